import { LiveClock } from '@baton/clock';
import type { Epoch } from '@baton/contract';
import { Fifo } from '@baton/kernel';
import type { RequestResult, TakenJob } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import type { KeptPayloads } from '../runs/kept-payloads';
import type { Run } from '../runs/run';
import { Ledger, Log } from '../tokens';

/** The end of a run, for an API process that missed it. */
export interface FinishedRun {
  readonly requestId: string;
  readonly epoch: Epoch;
  readonly apiId: string;
  readonly streamId: number;
  readonly result: RequestResult;
  /** Tail of the end entry. */
  readonly tail: string | undefined;
  /** Payloads of an executed run. */
  readonly payloads: KeptPayloads | undefined;
  readonly endedUs: number;
}

const KEPT_RUNS = 8_192;
/** Limit of all payloads together; those of the oldest runs are dropped first. */
const KEPT_CHARS = 64 * 1024 * 1024;
/** Time for which ends are kept, wall µs: that of the ledger's tombstones. */
const KEPT_US = 60_000_000;

/**
 * The ends of runs: kept for a minute, the oldest dropped first, and stored in the ledger as the
 * results of their requests.
 */
@Injectable()
export class FinishedRuns {
  private readonly runs = new Map<string, FinishedRun>();
  private readonly byAge = new Fifo<FinishedRun>();
  /** Ends that the ledger does not have yet. */
  private readonly unstored = new Set<FinishedRun>();

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: LiveClock,
    private readonly log: Log,
  ) {}

  get(requestId: string): FinishedRun | undefined {
    return this.runs.get(requestId);
  }

  keep(run: Run, result: RequestResult, tail: string | undefined): FinishedRun {
    const { requestId, apiId, streamId } = run.job;
    const finished = {
      endedUs: this.clock.wall.nowUs(),
      epoch: run.epoch,
      payloads: run.payloads,
      requestId,
      apiId,
      streamId,
      result,
      tail,
    };
    this.runs.set(requestId, finished);
    this.byAge.push(finished);
    this.unstored.add(finished);
    if (this.byAge.length > KEPT_RUNS) this.dropOldest();
    if (run.payloads) this.forgetPayloads();
    return finished;
  }

  /** Stores the result and removes the job. False when the ledger could not be reached. */
  store(finished: FinishedRun, taken: TakenJob): Promise<boolean> {
    return this.settled(finished, () => taken.finishJob(finished));
  }

  async storeAgain(): Promise<void> {
    const { ledger } = this;
    for (const finished of [...this.unstored]) {
      const { requestId, epoch, result } = finished;
      await this.settled(finished, () => ledger.finishRequest(requestId, epoch, result));
    }
  }

  /** The next sweep tries again to store a missing result; its job stalls. */
  private async settled(finished: FinishedRun, store: () => Promise<boolean>): Promise<boolean> {
    try {
      await store();
      this.unstored.delete(finished);
      return true;
    } catch (error) {
      const { requestId } = finished;
      this.log.debug({ err: error, requestId }, 'result not stored');
      return false;
    }
  }

  forgetOld(): void {
    const nowUs = this.clock.wall.nowUs();
    for (let run = this.byAge.peek(); run !== undefined; run = this.byAge.peek()) {
      if (run.endedUs + KEPT_US > nowUs) return;
      this.dropOldest();
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
    const oldest = this.byAge.shift();
    if (oldest === undefined) return;
    this.unstored.delete(oldest);
    if (this.runs.get(oldest.requestId) === oldest) this.runs.delete(oldest.requestId);
  }
}
