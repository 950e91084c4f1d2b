import type { LiveClock } from '@baton/clock';
import type { Logger } from '@baton/telemetry';
import type { RequestLedger, RequestResult } from '@baton/transport';
import type { FinishedRun, FinishedRuns } from './finished-runs';
import type { Run } from './run';

export interface ResultsParts {
  readonly finished: FinishedRuns;
  readonly ledger: RequestLedger;
  readonly clock: LiveClock;
  readonly log: Logger;
}

/** Results of requests that ended here: kept for a minute, and stored in the ledger. */
export class Results {
  constructor(private readonly parts: ResultsParts) {}

  keep(run: Run, result: RequestResult, tail: string | undefined): FinishedRun {
    const { requestId, apiId, streamId } = run.job;
    const endedUs = this.parts.clock.wall.nowUs();
    const finished = {
      ...{ requestId, apiId, streamId, result, tail, endedUs },
      epoch: run.epoch,
      payloads: run.payloads,
      isStored: false,
    };
    this.parts.finished.add(finished);
    return finished;
  }

  /** False when the ledger could not be reached; the next sweep tries again. */
  async store(finished: FinishedRun): Promise<boolean> {
    const { ledger, log } = this.parts;
    try {
      await ledger.finish(finished.requestId, finished.epoch, finished.result);
      finished.isStored = true;
      return true;
    } catch (error) {
      log.debug({ err: error, requestId: finished.requestId }, 'result not stored');
      return false;
    }
  }

  forgetOld(): void {
    this.parts.finished.dropOlderThan(this.parts.clock.wall.nowUs());
  }

  async storeAgain(): Promise<void> {
    for (const finished of this.parts.finished.unstored()) await this.store(finished);
  }
}
