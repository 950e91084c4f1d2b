import type { EndReason, Epoch, KvTransferParams, Placed, Stage } from '@baton/contract';

/**
 * The record of each request under way, and its tombstone afterwards. Every method is atomic. A
 * call with an older epoch than the record's is fenced out: it is refused and changes nothing.
 */
export interface RequestLedger {
  /** Opens a run of `stage`. The first run creates the record. */
  begin(start: RunStart): Promise<RunPermit>;
  /**
   * Prefill is done: stores the location of the KV and moves the record's stage to decode. False
   * when the epoch is not the record's newest, or the request was aborted or is finished; the
   * caller then releases its blocks. A repeat by the same epoch returns true again.
   */
  handOff(requestId: string, epoch: Epoch, handoff: HandoffRecord): Promise<boolean>;
  /**
   * Decode has lost its KV source: moves the stage back to prefill under the next submission, whose
   * number is returned. Undefined when fenced out. A repeat by the same epoch returns the same
   * number. Neither the run nor its prefill counts when the process of the source is lost, or when
   * this run replaces a lost one, whose read may have freed the KV.
   */
  returnToPrefill(requestId: string, epoch: Epoch, why?: ReturnReason): Promise<number | undefined>;
  /**
   * Ends a run because its engine leaves or was late, not because of the request. The run does not
   * count towards `maxRuns`, even when a newer run has begun. A repeated call, or a call for a
   * completed run, changes nothing.
   */
  withdraw(requestId: string, epoch: Epoch): Promise<void>;
  /** A run has failed, and its job goes back to the queue: it counts towards `maxRuns`. */
  failRun(requestId: string, epoch: Epoch): Promise<void>;
  /**
   * Terminal: stores the result as tombstone for `tombstoneMs`. False when fenced out or already
   * terminal.
   */
  finishRequest(requestId: string, epoch: Epoch, result: RequestResult): Promise<boolean>;
  /**
   * Stores the abort: the record becomes terminal, whichever engine runs it. Unknown ids get a
   * tombstone too, so that a later `begin` is refused.
   */
  abort(requestIds: readonly string[]): Promise<void>;
  /**
   * The API resubmits after the broker has lost data. Runs of lower submissions are fenced out from
   * now on; any stage may begin.
   */
  resubmit(again: Resubmission): Promise<void>;
  /**
   * Drops a request whose API has no presence, as for `not-awaited` from `begin`: `inspect` shows
   * it as aborted until that API resubmits it. Changes nothing when the record is terminal, names
   * no API, or its API has a presence.
   */
  abandon(requestId: string): Promise<void>;
  /** One view per id, in order; undefined when there is no record. */
  inspect(requestIds: readonly string[]): Promise<(RequestView | undefined)[]>;
  /**
   * Stores the prompt or body that an executing stage needs. Limited in size (else `too-large`) and
   * in time.
   */
  putPrompt(requestId: string, prompt: Buffer): Promise<'stored' | 'too-large'>;
  getPrompt(requestId: string): Promise<Buffer | undefined>;
}

export interface RunStart {
  readonly requestId: string;
  readonly submission: number;
  readonly stage: Stage;
  readonly engineId: string;
  readonly apiId: string;
  /**
   * Runs of one stage that a request may take, over all submissions (3). Runs without an end
   * were lost with their process: they do not count here, and ten of them end the request.
   */
  readonly maxRuns: number;
}

/** Why a request goes back to prefill: the process with its KV is lost, or another failure. */
export type ReturnReason = 'source-lost' | 'run-failed';

export type RunPermit =
  | { readonly kind: 'run'; readonly epoch: Epoch; readonly handoff: HandoffRecord | undefined }
  /** The caller must not run it, and removes the job. */
  | {
      readonly kind: 'drop';
      readonly why: 'aborted' | 'finished' | 'superseded' | 'moved-on' | 'not-awaited';
    }
  /**
   * The caller must not run it. The earlier worker can have ended between the ledger's answer and
   * the next job. So the caller adds the decode job (`handed-over`), or the prefill job of
   * `submission` (`returned`), before it removes this one. Adding an existing job changes nothing.
   */
  | { readonly kind: 'drop'; readonly why: 'handed-over'; readonly handoff: HandoffRecord }
  | { readonly kind: 'drop'; readonly why: 'returned'; readonly submission: number }
  /**
   * The limit of runs is used up: the request has failed for good, and the record has that with
   * this epoch.
   */
  | { readonly kind: 'exhausted'; readonly epoch: Epoch };

/** The location of a prompt's KV. */
export interface HandoffRecord {
  readonly params: KvTransferParams;
  /** Generation of the holding; see the `read` message. */
  readonly generation: number;
  /** Logical instant of the hold, µs since the Unix epoch. */
  readonly heldUs: number;
  readonly epoch: Epoch;
  /** The engine whose leg of the transfer runs beside decode's. Absent: the prompt is held. */
  readonly prefillEngineId?: string;
  /**
   * The queue of the decode job, so that adding it again has no effect. Absent: the shared queue.
   */
  readonly decode?: Placed;
}

export interface RequestResult {
  readonly reason: EndReason;
  /** All generated tokens. */
  readonly tokens: number;
  /** Catalogue code, for `error`. */
  readonly errorCode?: string;
  /** The output of an executing stage (JSON), when the API cannot compute it itself. */
  readonly payload?: string;
}

export interface Resubmission {
  readonly requestId: string;
  /** Higher than any before. */
  readonly submission: number;
  /** The API that awaits it. Without it the record would seem abandoned until its first run. */
  readonly apiId: string;
}

export interface RequestView {
  readonly stage: Stage | 'finished';
  readonly epoch: Epoch;
  readonly engineId: string;
  /**
   * Aborted, or dropped because its API had no presence (`not-awaited`). If that API still runs, it
   * resubmits the request under a higher number.
   */
  readonly isAborted: boolean;
  readonly isApiAlive: boolean;
  /**
   * True when it has a job in a queue: it was handed over, sent back to prefill or resubmitted, and
   * no engine has begun that job yet.
   */
  readonly awaitsRun: boolean;
  readonly result: RequestResult | undefined;
}
