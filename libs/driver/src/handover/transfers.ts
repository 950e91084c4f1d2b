import { TransferSet } from '@baton/handoff';
import { type Micros, usToSeconds } from '@baton/kernel';
import type { HostContext } from '../host/host-context';
import type { Run } from '../jobs/run';
import { WakeUp } from '../steps/wake-up';

export interface TransferOrder {
  readonly sourceId: string;
  readonly bytes: number;
  readonly bytesPerSecond: number;
  readonly activeReads: number;
  /** On purpose: further latency, and the share of the link's speed that this transfer alone gets. */
  readonly extraUs: Micros;
  readonly factor: number;
}

interface UnderWay {
  readonly run: Run;
  readonly startedUs: Micros;
}

/** The transfers into one engine on the wall clock: `TransferSet` says how long they take, this wakes up when one is through. */
export class Transfers {
  private readonly set = new TransferSet();
  private readonly underWay = new Map<string, UnderWay>();
  private readonly wakeUp: WakeUp;
  /** Simulated time that the transfer completed last took. */
  lastSpanUs: Micros = 0;

  constructor(
    private readonly context: HostContext,
    private readonly onDone: (run: Run, completedUs: Micros) => void,
  ) {
    this.wakeUp = new WakeUp(context.clock, () => context.guard(() => this.complete()));
  }

  start(run: Run, order: TransferOrder, startUs: Micros): void {
    const id = idOf(run.job.requestId, run.epoch);
    const { link } = this.context.options.facts;
    this.underWay.set(id, { run, startedUs: startUs });
    this.set.start({
      id,
      sourceId: order.sourceId,
      targetId: this.context.engineId,
      // At a part of the speed, as at full speed for so many times the bytes: the others keep theirs.
      bytes: order.bytes / order.factor,
      baseLatencyUs: link.baseLatencyUs + order.extraUs,
      sourceBytesPerSecond: order.bytesPerSecond,
      targetBytesPerSecond: link.bytesPerSecond,
      sourceActiveReads: order.activeReads,
      nowUs: startUs,
    });
    this.arm();
  }

  cancel(requestId: string, epoch: number): void {
    const id = idOf(requestId, epoch);
    this.underWay.delete(id);
    this.set.cancel(id, this.context.clock.nowUs());
    this.arm();
  }

  setShare(sourceId: string, activeReads: number): void {
    this.set.setSourceShare(sourceId, activeReads, this.context.clock.nowUs());
    this.arm();
  }

  /** The transfer completed last, of so many bytes to each rank: vLLM counts one transfer for each of the tensor-parallel ranks. */
  count(bytes: number): void {
    const { stats, options } = this.context;
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

  private complete(): void {
    for (const { id, completedUs } of this.set.completed(this.context.clock.nowUs())) {
      const transfer = this.underWay.get(id);
      if (transfer === undefined) continue;
      this.underWay.delete(id);
      this.lastSpanUs = completedUs - transfer.startedUs;
      this.onDone(transfer.run, completedUs);
    }
    this.arm();
  }

  /** What completed while the set's clock moved on otherwise is picked up at once. */
  private arm(): void {
    const nowUs = this.context.clock.nowUs();
    const dueUs = this.set.nextCompletionUs();
    const hasCompleted = this.underWay.size > this.set.size;
    this.wakeUp.set(hasCompleted ? nowUs : dueUs);
  }
}

function idOf(requestId: string, epoch: number): string {
  return `${requestId}@${epoch}`;
}
