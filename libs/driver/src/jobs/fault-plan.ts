import { hashString, mix, unitOf } from '@baton/kernel';

/**
 * The steps of a hand-over after which a test may end the process, in the order in which a request
 * passes them.
 */
export const CRASH_POINTS = [
  'held',
  'handed-over',
  'decode-queued',
  'decode-begun',
  'read-answered',
  'finished',
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

export interface FaultOptions {
  readonly crashAfter: string | undefined;
  /** Share of KV reads answered as expired, 0..1. */
  readonly failReads: number;
  readonly seed: number;
}

const READ_FAULTS = hashString('read faults');

/** What goes wrong on purpose. Without options nothing does. */
export class FaultPlan {
  private reads = 0;

  constructor(
    private readonly options: FaultOptions,
    /** Ends the process without a word, as a power cut would. */
    private readonly crash: () => void = () => process.kill(process.pid, 'SIGKILL'),
  ) {}

  /** Whether reaching this point ends the process. */
  awaits(point: CrashPoint): boolean {
    return this.options.crashAfter === point;
  }

  reached(point: CrashPoint): void {
    if (this.awaits(point)) this.crash();
  }

  /** Ends the process, as a job asked for. */
  end(): void {
    this.crash();
  }

  failsRead(): boolean {
    if (this.options.failReads === 0) return false;
    this.reads += 1;
    return unitOf(mix(mix(READ_FAULTS, this.options.seed), this.reads)) < this.options.failReads;
  }
}
