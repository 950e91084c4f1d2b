import type { LiveClock } from '@baton/clock';
import { TransferSet } from '@baton/handoff';
import { type Micros, usToSeconds } from '@baton/kernel';
import type { EngineStats } from '@baton/telemetry';
import type { EngineIdentity } from '../host/engine-identity';
import type { EngineSlot } from '../host/engine-slot';
import type { HostOptions } from '../host/host-options';
import type { Run } from '../jobs/run';
import { WakeUp } from '../steps/wake-up';

export interface TransferOrder {
  readonly sourceId: string;
  readonly bytes: number;
  readonly bytesPerSecond: number;
  readonly activeReads: number;
  /**
   * On purpose: further latency, and the share of the link's speed that this transfer alone gets.
   */
  readonly extraUs: Micros;
  readonly factor: number;
}

export interface TransferPhase {
  readonly startUs: Micros;
  readonly onDone: (completedUs: Micros) => void;
}

export interface TransfersParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<HostOptions, 'facts' | 'kvRegionsPerBlock'>;
  readonly clock: LiveClock;
  readonly slot: EngineSlot;
  readonly stats: EngineStats;
}

/**
 * The transfers into one engine on the wall clock: `TransferSet` computes how long they take, this
 * wakes up when one is through.
 */
export class Transfers {
  private set = new TransferSet();
  private readonly underWay = new Map<string, TransferPhase>();
  private readonly wakeUp: WakeUp;
  /** Simulated time that the transfer completed last took. */
  lastSpanUs: Micros = 0;

  constructor(private readonly parts: TransfersParts) {
    const { clock, slot } = parts;
    this.wakeUp = new WakeUp(clock, () => slot.guard(() => this.complete()));
  }

  start(run: Run, order: TransferOrder, phase: TransferPhase): void {
    const id = idOf(run.job.requestId, run.epoch);
    const { link } = this.parts.options.facts;
    this.underWay.set(id, phase);
    this.set.start({
      id,
      sourceId: order.sourceId,
      targetId: this.parts.identity.engineId,
      // At a part of the speed, as at full speed for so many times the bytes: the others keep
      // theirs.
      bytes: order.bytes / order.factor,
      baseLatencyUs: link.baseLatencyUs + order.extraUs,
      sourceBytesPerSecond: order.bytesPerSecond,
      targetBytesPerSecond: link.bytesPerSecond,
      sourceActiveReads: order.activeReads,
      nowUs: phase.startUs,
    });
    this.arm();
  }

  cancel(requestId: string, epoch: number): void {
    const id = idOf(requestId, epoch);
    this.underWay.delete(id);
    this.set.cancel(id, this.parts.clock.nowUs());
    this.arm();
  }

  setShare(sourceId: string, activeReads: number): void {
    this.set.setSourceShare(sourceId, activeReads, this.parts.clock.nowUs());
    this.arm();
  }

  /**
   * The transfer completed last, of `bytes` to each rank: vLLM counts one transfer for each of the
   * tensor-parallel ranks.
   */
  count(bytes: number): void {
    const { stats, options } = this.parts;
    const { link, tensorParallelSize, kvBytesPerToken, blockSize } = options.facts;
    const blocks = Math.ceil(bytes / (kvBytesPerToken * blockSize));
    const descriptors = blocks * (options.kvRegionsPerBlock ?? 1);
    for (let rank = 0; rank < tensorParallelSize; rank += 1) {
      stats.observe('nixl_xfer_time_seconds', usToSeconds(this.lastSpanUs));
      stats.observe('nixl_post_time_seconds', usToSeconds(link.baseLatencyUs));
      stats.observe('nixl_bytes_transferred', bytes);
      stats.observe('nixl_num_descriptors', descriptors);
    }
  }

  stop(): void {
    this.wakeUp.cancel();
  }

  /** The engine has been replaced: no transfer goes on. */
  reset(): void {
    this.stop();
    this.set = new TransferSet();
    this.underWay.clear();
    this.lastSpanUs = 0;
  }

  private complete(): void {
    for (const { id, completedUs } of this.set.completed(this.parts.clock.nowUs())) {
      const transfer = this.underWay.get(id);
      if (transfer === undefined) continue;
      this.underWay.delete(id);
      this.lastSpanUs = completedUs - transfer.startUs;
      transfer.onDone(completedUs);
    }
    this.arm();
  }

  /** What completed while the set's clock moved on otherwise is picked up at once. */
  private arm(): void {
    const nowUs = this.parts.clock.nowUs();
    const dueUs = this.set.nextCompletionUs();
    const hasCompleted = this.underWay.size > this.set.size;
    this.wakeUp.set(hasCompleted ? nowUs : dueUs);
  }
}

function idOf(requestId: string, epoch: number): string {
  return `${requestId}@${epoch}`;
}
