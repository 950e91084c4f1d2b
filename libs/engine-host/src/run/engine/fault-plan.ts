import { hashString, mix, unitOf } from '@baton/kernel';
import type { FaultOptions } from '../options';

/** The steps of a request after which a test can end the process, in order. */
type CrashPoint =
  'taken' | 'held' | 'handed-over' | 'decode-begun' | 'read-answered' | 'ended' | 'finished';

/** Whether the plan has any fault. */
export function wantsFaults({ crashAfter, failReads }: FaultOptions): boolean {
  return crashAfter !== undefined || failReads > 0;
}

const READ_FAULTS = hashString('read faults');

/** The faults to inject in one process. */
export class FaultPlan {
  private reads = 0;

  constructor(
    private readonly options: FaultOptions,
    /** Ends the process without any clean-up, like a power cut. */
    private readonly crash: () => void,
  ) {}

  /** Whether the process ends when it reaches this point. */
  awaits(point: CrashPoint): boolean {
    return this.options.crashAfter === point;
  }

  reached(point: CrashPoint): void {
    if (this.awaits(point)) this.crash();
  }

  failsRead(): boolean {
    this.reads += 1;
    return unitOf(mix(mix(READ_FAULTS, this.options.seed), this.reads)) < this.options.failReads;
  }
}
