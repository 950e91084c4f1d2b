import { type Epoch, packEpoch, type Stage } from '@baton/contract';
import type {
  HandoffRecord,
  RequestResult,
  RequestView,
  ReturnReason,
  RunPermit,
  RunStart,
} from '../port/ledger';
import { EXHAUSTED_RESULT, MAX_LOST_RUNS } from '../limits';

const MAX_RUN = 1023;

/**
 * The record of one request; the rules are those of redis/ledger-scripts.ts, and one suite tests
 * both.
 */
export class RequestRecord {
  state: 'live' | 'aborted' | 'finished' = 'live';
  submission: number | undefined;
  apiId = '';
  private run = 0;
  private epoch: Epoch = 0;
  private stage: Stage = 'prefill';
  private anyStageMayBegin = false;
  private engineId = '';
  private handoffRecord: HandoffRecord | undefined;
  private returnedEpoch: Epoch | undefined;
  /**
   * Stages of the runs that count and have neither failed nor handed over; `lost` when a further
   * run of the stage has begun since.
   */
  private readonly counted = new Map<Epoch, Stage | 'lost'>();
  /** Runs without an end, and the run that replaces the latest. */
  private lost = 0;
  private excusedEpoch: Epoch | undefined;
  private seemedAbandoned = false;
  private result: RequestResult | undefined;
  private readonly runs: Record<Stage, number> = { prefill: 0, decode: 0, aggregated: 0 };

  begin(start: RunStart, isApiAlive: boolean): RunPermit {
    const refusal = this.refuse(start);
    if (refusal !== undefined) return refusal;
    const isFresh = this.isFresh(start);
    if (!isApiAlive) return this.noteAbandoned(start);
    this.run += 1;
    const epoch = packEpoch(start.submission, this.run);
    if (!isFresh && this.counted.get(this.epoch) === start.stage) this.loseRun(epoch);
    else this.runs[start.stage] += 1;
    this.submission = start.submission;
    this.epoch = epoch;
    this.stage = start.stage;
    this.counted.set(this.epoch, start.stage);
    this.engineId = start.engineId;
    this.apiId = start.apiId;
    this.anyStageMayBegin = false;
    this.returnedEpoch = undefined;
    this.seemedAbandoned = false;
    if (isFresh) this.handoffRecord = undefined;
    const isUsedUp = this.runs[start.stage] > start.maxRuns || this.lost >= MAX_LOST_RUNS;
    if (isUsedUp || this.run > MAX_RUN) {
      this.endRequest('finished', EXHAUSTED_RESULT);
      return { kind: 'exhausted', epoch: this.epoch };
    }
    return { kind: 'run', epoch: this.epoch, handoff: this.handoffRecord };
  }

  handOff(epoch: Epoch, record: HandoffRecord): boolean {
    if (this.state !== 'live' || this.epoch !== epoch) return false;
    if (this.stage === 'decode' && this.handoffRecord?.epoch === epoch) return true;
    if (this.stage !== 'prefill') return false;
    this.stage = 'decode';
    this.counted.delete(epoch);
    this.handoffRecord = { ...record, epoch };
    return true;
  }

  returnToPrefill(epoch: Epoch, why: ReturnReason): number | undefined {
    if (this.state !== 'live' || this.submission === undefined) return undefined;
    if (this.returnedEpoch === epoch) return this.submission;
    if (this.stage !== 'decode' || this.epoch !== epoch) return undefined;
    this.submission += 1;
    this.stage = 'prefill';
    this.epoch = packEpoch(this.submission, this.run);
    this.returnedEpoch = epoch;
    this.handoffRecord = undefined;
    if (why === 'source-lost') this.lost += 1;
    const isExcused = why === 'source-lost' || this.excusedEpoch === epoch;
    if (isExcused && this.counted.delete(epoch)) {
      this.runs.decode -= 1;
      this.runs.prefill -= 1;
    }
    return this.submission;
  }

  failRun(epoch: Epoch): boolean {
    if (this.state !== 'live' || this.counted.get(epoch) === 'lost') return false;
    return this.counted.delete(epoch);
  }

  withdraw(epoch: Epoch): boolean {
    const stage = this.counted.get(epoch);
    if (this.state !== 'live' || stage === undefined) return false;
    if (stage === 'lost') this.lost -= 1;
    else this.runs[stage] -= 1;
    this.counted.delete(epoch);
    return true;
  }

  finishRequest(epoch: Epoch, result: RequestResult): boolean {
    if (this.state !== 'live' || this.epoch !== epoch) return false;
    this.endRequest('finished', result);
    return true;
  }

  abort(): boolean {
    if (this.state === 'finished') return false;
    this.endRequest('aborted', undefined);
    return true;
  }

  abandon(): boolean {
    if (this.state !== 'live' || this.apiId === '') return false;
    this.seemedAbandoned = true;
    return true;
  }

  resubmit(submission: number, apiId: string): boolean {
    if (this.state !== 'live' || submission <= (this.submission ?? 0)) return false;
    this.submission = submission;
    this.apiId = apiId;
    this.epoch = packEpoch(submission, this.run);
    this.anyStageMayBegin = true;
    this.handoffRecord = undefined;
    this.returnedEpoch = undefined;
    this.seemedAbandoned = false;
    this.engineId = '';
    return true;
  }

  toView(isApiAlive: boolean): RequestView {
    return {
      stage: this.state === 'live' ? this.stage : 'finished',
      epoch: this.epoch,
      engineId: this.engineId,
      isAborted: this.state === 'aborted' || this.seemedAbandoned,
      isApiAlive,
      awaitsRun: this.awaitsRun,
      result: this.result,
    };
  }

  private get awaitsRun(): boolean {
    if (this.state !== 'live') return false;
    const isHandedOver =
      this.handoffRecord !== undefined && this.handoffRecord.epoch === this.epoch;
    return this.anyStageMayBegin || this.returnedEpoch !== undefined || isHandedOver;
  }

  /** The newest run was lost with its process, and `next` replaces it in the count. */
  private loseRun(next: Epoch): void {
    this.counted.set(this.epoch, 'lost');
    this.lost += 1;
    this.excusedEpoch = next;
  }

  private refuse(start: RunStart): RunPermit | undefined {
    if (this.state !== 'live') return { kind: 'drop', why: this.state };
    if (this.submission !== undefined && start.submission < this.submission) {
      if (this.returnedEpoch === undefined) return { kind: 'drop', why: 'superseded' };
      return { kind: 'drop', why: 'returned', submission: this.submission };
    }
    if (this.isFresh(start) || this.stage === start.stage) return undefined;
    const handoff = this.handoffRecord;
    if (handoff?.epoch === this.epoch) return { kind: 'drop', why: 'handed-over', handoff };
    return { kind: 'drop', why: 'moved-on' };
  }

  private isFresh(start: RunStart): boolean {
    return (
      this.anyStageMayBegin || this.submission === undefined || start.submission > this.submission
    );
  }

  private noteAbandoned(start: RunStart): RunPermit {
    this.seemedAbandoned = true;
    this.apiId = start.apiId;
    if (this.submission === undefined) {
      this.submission = start.submission;
      this.stage = start.stage;
      this.epoch = packEpoch(start.submission, 0);
      this.anyStageMayBegin = true;
    }
    return { kind: 'drop', why: 'not-awaited' };
  }

  private endRequest(state: 'aborted' | 'finished', result: RequestResult | undefined): void {
    this.state = state;
    this.result = result;
    this.handoffRecord = undefined;
  }
}
