import type { RunOutcome } from '../observers/run-spans';
import type { RunState } from '../runs/run';

/** Why other parts free what they hold for a run: its request was aborted, or only it is void. */
export type DropReason = 'aborted' | 'superseded';

/** The effects of one ending of a run, besides that its state becomes `over`. */
export interface Ending {
  /**
   * What engine, hand-over and executor hold for the run: freed for this reason, or kept, because
   * the engine has freed it already or the KV waits for its reader.
   */
  readonly claims: DropReason | 'kept';
  /**
   * `finished`: removed, in one step with the result of the request in the ledger. `returned`: back
   * at the front of its queue. `left`: it has a newer lock.
   */
  readonly job: 'finished' | 'removed' | 'returned' | 'left';
  /** Reason of the `end` entry. Absent: the API has it already, or the request continues. */
  readonly frame?: 'error' | 'abort';
  /** The report on the run, before its job returns. Absent: the run counts. */
  readonly ledger?: 'failRun' | 'withdraw';
  readonly counter?: 'runs_failed' | 'runs_aborted' | 'runs_excused';
  /** The outcome in the span of the run; absent: `released`. */
  readonly span?: RunOutcome;
  /** A state besides `over` in which it has no effect. */
  readonly spares?: Extract<RunState, 'moving-on'>;
}

/** All ways in which a run ends in this process, by cause. */
export const ENDINGS = {
  /** The last tokens are in the frame. */
  complete: { claims: 'kept', job: 'finished', span: 'finished' },
  /** The request cannot be served, here or elsewhere. */
  fail: { claims: 'aborted', job: 'finished', frame: 'error', counter: 'runs_failed' },
  /** The client has disconnected; the ledger has the request as aborted. */
  abort: { claims: 'aborted', job: 'removed', frame: 'abort', counter: 'runs_aborted' },
  /** A sweep finds the request aborted or its API gone; an API that was paused resubmits it. */
  abandon: { claims: 'superseded', job: 'removed', counter: 'runs_aborted' },
  /** A sweep finds another run or none in the ledger: this worker was late. */
  void: { claims: 'superseded', job: 'removed', ledger: 'withdraw', counter: 'runs_excused' },
  /** This worker has taken the same job again. */
  supersede: { claims: 'superseded', job: 'left', ledger: 'withdraw', counter: 'runs_excused' },
  /** Another worker has taken the job. A hand-over under way is valid without the lock. */
  loseLock: {
    claims: 'superseded',
    job: 'left',
    ledger: 'withdraw',
    counter: 'runs_excused',
    spares: 'moving-on',
  },
  /** The run has failed; another engine may do better. */
  giveBack: { claims: 'superseded', job: 'returned', ledger: 'failRun' },
  /** This engine leaves. A hand-over under way ends by itself. */
  withdraw: { claims: 'superseded', job: 'returned', ledger: 'withdraw', spares: 'moving-on' },
  /** The request continues elsewhere or has ended. */
  drop: { claims: 'superseded', job: 'removed' },
  /** Another stage has the request. */
  handOn: { claims: 'kept', job: 'removed', span: 'handed over' },
} as const satisfies Readonly<Record<string, Ending>>;

export type EndingCause = keyof typeof ENDINGS;
