import { LiveClock } from '@baton/clock';
import { TransferSet, TransferSetup, type TransferShape, wholeBlocks } from '@baton/handoff';
import { type Micros, usToSeconds } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot, WakeUp } from '../run/engine/engine-slot';
import { type Run } from '../run/runs/run';
import { HostOptions } from '../run/tokens';

export interface TransferOrder {
  readonly sourceId: string;
  readonly blocks: number;
  readonly bytes: number;
  readonly bytesPerSecond: number;
  readonly sourcePorts: number;
  readonly activeReads: number;
  /**
   * An injected fault: additional latency, and the share of the link's speed for this transfer.
   * Unset: 0 µs, and 1.
   */
  readonly extraUs?: Micros;
  readonly factor?: number;
}

export interface TransferPhase {
  readonly startUs: Micros;
  readonly onDone: (completedUs: Micros) => void;
}

/**
 * The transfers into one engine on the wall clock. `TransferSet` computes their durations, and this
 * class sets an alarm for the end of the next one.
 */
@Injectable()
export class Transfers {
  private set = new TransferSet();
  /** Undefined when setting up takes no time. */
  readonly setup: TransferSetup | undefined;
  readonly shape: TransferShape;
  private readonly underWay = new Map<string, TransferPhase & { handshakeUs: Micros }>();
  private readonly wakeUp: WakeUp;
  /** Simulated duration of the transfer that completed last. */
  lastSpanUs: Micros = 0;
  /** Part of it spent on the first contact of the two engines. */
  private lastHandshakeUs: Micros = 0;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly stats: EngineStats,
  ) {
    const { facts, transferShape, transferTimes } = options;
    this.shape = transferShape ?? wholeBlocks(facts.kvBytesPerToken, facts.blockSize);
    this.setup = transferTimes && new TransferSetup(transferTimes, this.shape);
    this.wakeUp = new WakeUp(clock, slot, () => this.complete());
  }

  start(run: Run, order: TransferOrder, phase: TransferPhase): void {
    const id = idOf(run.job.requestId, run.epoch);
    const { link } = this.options.facts;
    const handshakeUs = this.setup?.handshakeLeftUs(order.sourceId, phase.startUs) ?? 0;
    const setupUs = handshakeUs + (this.setup?.postingUs(order.blocks) ?? 0);
    this.underWay.set(id, { handshakeUs, ...phase });
    this.set.start({
      id,
      sourceId: order.sourceId,
      targetId: this.identity.engineId,
      // A fraction of the speed is modelled as a multiple of the bytes at full speed, so that the
      // other transfers keep theirs.
      bytes: order.bytes / (order.factor ?? 1),
      baseLatencyUs: link.baseLatencyUs + setupUs + (order.extraUs ?? 0),
      sourceBytesPerSecond: order.bytesPerSecond,
      targetBytesPerSecond: link.bytesPerSecond,
      sourcePorts: order.sourcePorts,
      sourceActiveReads: order.activeReads,
      nowUs: phase.startUs,
    });
    this.arm();
  }

  cancel(requestId: string, epoch: number): void {
    const id = idOf(requestId, epoch);
    this.underWay.delete(id);
    this.set.cancel(id, this.clock.nowUs());
    this.arm();
  }

  setShare(sourceId: string, activeReads: number): void {
    this.set.setSourceShare(sourceId, activeReads, this.clock.nowUs());
    this.arm();
  }

  /**
   * Counts the transfer that completed last, of `blocks` to each rank: vLLM counts one transfer per
   * tensor-parallel rank.
   */
  count(blocks: number): void {
    const { stats, options } = this;
    const { link, tensorParallelSize } = options.facts;
    const descriptors = blocks * this.shape.descriptorsPerBlock;
    const postUs = link.baseLatencyUs + (this.setup?.postingUs(blocks) ?? 0);
    // vLLM measures a transfer from the end of the handshake.
    const xferUs = this.lastSpanUs - this.lastHandshakeUs;
    for (let rank = 0; rank < tensorParallelSize; rank += 1) {
      stats.observe('nixl_xfer_time_seconds', usToSeconds(xferUs));
      stats.observe('nixl_post_time_seconds', usToSeconds(postUs));
      stats.observe('nixl_bytes_transferred', blocks * this.shape.bytesPerBlock);
      stats.observe('nixl_num_descriptors', descriptors);
    }
  }

  stop(): void {
    this.wakeUp.cancel();
  }

  /** The engine has been replaced: all transfers end. */
  reset(): void {
    this.stop();
    this.set = new TransferSet();
    this.setup?.reset();
    this.underWay.clear();
    this.lastSpanUs = 0;
    this.lastHandshakeUs = 0;
  }

  private complete(): void {
    for (const { id, completedUs } of this.set.completed(this.clock.nowUs())) {
      const transfer = this.underWay.get(id);
      if (transfer === undefined) continue;
      this.underWay.delete(id);
      this.lastSpanUs = completedUs - transfer.startUs;
      this.lastHandshakeUs = transfer.handshakeUs;
      transfer.onDone(completedUs);
    }
    this.arm();
  }

  /** Transfers that completed while the set's clock advanced otherwise are picked up at once. */
  private arm(): void {
    const nowUs = this.clock.nowUs();
    const dueUs = this.set.nextCompletionUs();
    const hasCompleted = this.underWay.size > this.set.size;
    this.wakeUp.set(hasCompleted ? nowUs : dueUs);
  }
}

function idOf(requestId: string, epoch: number): string {
  return `${requestId}@${epoch}`;
}
