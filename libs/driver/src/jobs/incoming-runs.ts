import type { Run } from './run';

/** Runs that were taken from a queue and are not in the engine yet. */
export class IncomingRuns {
  private count = 0;
  private tokens = 0;

  get sequences(): number {
    return this.count;
  }

  get promptTokens(): number {
    return this.tokens;
  }

  add(run: Run): void {
    run.isIncoming = true;
    this.count += 1;
    this.tokens += run.job.promptTokens;
  }

  /** The run has entered the engine, or will not. Idempotent. */
  settle(run: Run): void {
    if (!run.isIncoming) return;
    run.isIncoming = false;
    this.count -= 1;
    this.tokens -= run.job.promptTokens;
  }
}
