import { assert, type Micros } from '@baton/kernel';
import type { AnyId } from './request-table';

export interface TransferSetupTimes {
  /** Time of the first contact with another engine, simulated µs, >= 0. */
  readonly handshakeUs: Micros;
  /** Time to post one descriptor, µs, >= 0. */
  readonly descriptorUs: number;
}

export interface TransferShape {
  /** Bytes of a KV block that one rank stores, > 0. */
  readonly bytesPerBlock: number;
  /**
   * Reads of one rank for a block: the number of its separate parts times the number of ranks it
   * reads from.
   */
  readonly descriptorsPerBlock: number;
}

/** Limit of remembered handshakes; beyond it the oldest is repeated. */
const MOST_SOURCES = 4_096;

/**
 * The time that transfers to one engine take before their first byte, in addition to the latency of
 * the link. As in vLLM's NIXL connector (`_background_nixl_handshake` of `nixl/base_worker.py`),
 * the first contact with another engine exchanges metadata and prepares its descriptors in the
 * background. Reads from that engine wait until then. Each read posts its descriptors one after the
 * other.
 */
export class TransferSetup<Id extends AnyId = string> {
  /** End of the handshake with each source. */
  private readonly knownFromUs = new Map<Id, Micros>();

  constructor(
    private readonly times: TransferSetupTimes,
    private readonly shape: TransferShape,
  ) {
    assert(times.handshakeUs >= 0 && times.descriptorUs >= 0, 'a setup takes no less than nothing');
    assert(shape.bytesPerBlock > 0 && shape.descriptorsPerBlock > 0, 'blocks are read in parts');
  }

  /** Begins the handshake with the engine of a requested KV, unless there was one. */
  meet(sourceId: Id, nowUs: Micros): void {
    const { knownFromUs } = this;
    if (this.times.handshakeUs === 0 || knownFromUs.has(sourceId)) return;
    if (knownFromUs.size >= MOST_SOURCES) knownFromUs.delete(knownFromUs.keys().next().value!);
    knownFromUs.set(sourceId, nowUs + this.times.handshakeUs);
  }

  /** Time left of the handshake; the whole time for an engine without a handshake yet. */
  handshakeLeftUs(sourceId: Id, nowUs: Micros): Micros {
    this.meet(sourceId, nowUs);
    return Math.max(0, (this.knownFromUs.get(sourceId) ?? nowUs) - nowUs);
  }

  /** Time left before each rank reads this many blocks. */
  leftUs(sourceId: Id, blocks: number, nowUs: Micros): Micros {
    return this.handshakeLeftUs(sourceId, nowUs) + this.postingUs(blocks);
  }

  /** Posting time of a read of this many blocks by each rank. */
  postingUs(blocks: number): Micros {
    return Math.round(this.times.descriptorUs * blocks * this.shape.descriptorsPerBlock);
  }

  /** The engine is new: every contact is its first. */
  reset(): void {
    this.knownFromUs.clear();
  }
}

/** The shape of blocks that are read whole, each in one part. */
export function wholeBlocks(bytesPerToken: number, blockSize: number): TransferShape {
  return { bytesPerBlock: bytesPerToken * blockSize, descriptorsPerBlock: 1 };
}
