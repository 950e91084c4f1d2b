import type { Epoch } from '@baton/contract';
import type { RequestResult } from '@baton/transport';
import type { KeptPayloads } from './kept-payloads';

/** The end of a run, for an API process that missed it. */
export interface FinishedRun {
  readonly requestId: string;
  readonly epoch: Epoch;
  readonly apiId: string;
  readonly streamId: number;
  readonly result: RequestResult;
  /** Tail of the end entry. */
  readonly tail: string | undefined;
  /** Of a run that executed. */
  readonly payloads: KeptPayloads | undefined;
  readonly endedUs: number;
  /** The ledger has it; until then the sweep tries again. */
  isStored: boolean;
}

const KEPT_RUNS = 8_192;
/** Of all payloads together; those of the oldest runs go first. */
const KEPT_CHARS = 64 * 1024 * 1024;
/** Wall µs; as long as the ledger keeps its tombstones. */
const KEPT_US = 60_000_000;

/** Remembers the ends of runs for a minute, the oldest going first. */
export class FinishedRuns {
  private readonly runs = new Map<string, FinishedRun>();

  add(run: FinishedRun): void {
    this.runs.delete(run.requestId);
    this.runs.set(run.requestId, run);
    if (this.runs.size > KEPT_RUNS) this.dropOldest();
    if (run.payloads) this.forgetPayloads();
  }

  get(requestId: string): FinishedRun | undefined {
    return this.runs.get(requestId);
  }

  unstored(): FinishedRun[] {
    return [...this.runs.values()].filter((run) => !run.isStored);
  }

  dropOlderThan(nowUs: number): void {
    for (const run of this.runs.values()) {
      if (run.endedUs + KEPT_US > nowUs) return;
      this.runs.delete(run.requestId);
    }
  }

  private forgetPayloads(): void {
    const all = [...this.runs.values()].flatMap(({ payloads }) => payloads ?? []);
    let chars = all.reduce((sum, payloads) => sum + payloads.chars, 0);
    for (const payloads of all) {
      if (chars <= KEPT_CHARS) return;
      chars -= payloads.chars;
      payloads.forget();
    }
  }

  private dropOldest(): void {
    const [oldest] = this.runs.keys();
    if (oldest !== undefined) this.runs.delete(oldest);
  }
}
