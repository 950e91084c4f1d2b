import type { EndReason, Epoch, KvTransferParams, Placed, Stage } from '@baton/contract';

/**
 * The record of each request that is under way, and its tombstone afterwards. Every method is
 * atomic. It fences: a call with an older epoch than the record's is refused and changes nothing.
 */
export interface RequestLedger {
  /** Opens a run of `stage`. Creates the record when it is the first. */
  begin(start: RunStart): Promise<RunPermit>;
  /**
   * Prefill is done: stores the location of the KV and moves the record's stage to decode. False
   * when the epoch is not the record's newest, the request was aborted or is finished: the caller
   * releases its blocks. A repeat by the same epoch is true again.
   */
  handOff(requestId: string, epoch: Epoch, handoff: HandoffRecord): Promise<boolean>;
  /**
   * Decode found its KV source lost: stage back to prefill under the next submission, whose number
   * is returned. Undefined when fenced out. A repeat by the same epoch returns the same number.
   */
  returnToPrefill(requestId: string, epoch: Epoch): Promise<number | undefined>;
  /**
   * A run ends because its engine leaves, or was late, through no fault of the request: it does not
   * count against `maxRuns`, also when a newer run has begun. Changes nothing when repeated, or
   * when the run has done its part.
   */
  withdraw(requestId: string, epoch: Epoch): Promise<void>;
  /**
   * Terminal: stores the result as tombstone for `tombstoneMs`. False when fenced out or already
   * terminal.
   */
  finish(requestId: string, epoch: Epoch, result: RequestResult): Promise<boolean>;
  /**
   * Stores the abort; the record becomes terminal, whichever engine runs it. Unknown ids get a
   * tombstone too, so a later `begin` is refused.
   */
  abort(requestIds: readonly string[]): Promise<void>;
  /**
   * The API submits again after the broker lost data. Runs of lower submissions are fenced out from
   * now on; any stage may begin.
   */
  resubmit(again: Resubmission): Promise<void>;
  /**
   * The API that awaits it seems dead, as for `not-awaited` from `begin`: `inspect` shows it as
   * aborted until that API submits it again. Nothing happens when the record is terminal, names no
   * API, or its API lives.
   */
  abandon(requestId: string): Promise<void>;
  /** One view per id, in order; undefined where there is no record. */
  inspect(requestIds: readonly string[]): Promise<(RequestView | undefined)[]>;
  /**
   * What an executing stage needs: prompts, bodies. Limited in size (`too-large` beyond) and in
   * time.
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
  /** Runs of one stage that a request may take, over all submissions (3). */
  readonly maxRuns: number;
}

export type RunPermit =
  | { readonly kind: 'run'; readonly epoch: Epoch; readonly handoff: HandoffRecord | undefined }
  /** Do not run it; remove the job. */
  | {
      readonly kind: 'drop';
      readonly why: 'aborted' | 'finished' | 'superseded' | 'moved-on' | 'not-awaited';
    }
  /**
   * Do not run it. Its worker may have died between the ledger's answer and the next job: add the
   * decode job (`handed-over`), or the prefill job of `submission` (`returned`), before removing
   * this one. Adding a job that is there already changes nothing.
   */
  | { readonly kind: 'drop'; readonly why: 'handed-over'; readonly handoff: HandoffRecord }
  | { readonly kind: 'drop'; readonly why: 'returned'; readonly submission: number }
  /**
   * The bound on runs is used up: the request has failed for good (the record says so, with this
   * epoch).
   */
  | { readonly kind: 'exhausted'; readonly epoch: Epoch };

/** Where a prompt's KV lies. */
export interface HandoffRecord {
  readonly params: KvTransferParams;
  /** Generation of the holding; see the `read` message. */
  readonly generation: number;
  /** Logical instant of the hold, µs since the Unix epoch. */
  readonly heldUs: number;
  readonly epoch: Epoch;
  /** The engine whose leg of the transfer goes on beside decode's. Absent: the prompt is held. */
  readonly prefillEngineId?: string;
  /**
   * Where the decode job goes, so that adding it again has no effect. Absent: in the shared queue.
   */
  readonly decode?: Placed;
}

export interface RequestResult {
  readonly reason: EndReason;
  /** Tokens generated in all. */
  readonly tokens: number;
  /** Catalogue code, for `error`. */
  readonly errorCode?: string;
  /** What an executing stage generated (JSON), when the API cannot compute it itself. */
  readonly payload?: string;
}

export interface Resubmission {
  readonly requestId: string;
  /** Higher than any before. */
  readonly submission: number;
  /** The API that awaits it; without it the record would seem abandoned until its first run. */
  readonly apiId: string;
}

export interface RequestView {
  readonly stage: Stage | 'finished';
  readonly epoch: Epoch;
  readonly engineId: string;
  /**
   * Aborted, or dropped because its API seemed dead (`not-awaited`); an API that lives submits
   * again under a higher number.
   */
  readonly isAborted: boolean;
  readonly isApiAlive: boolean;
  /**
   * It has a job in a queue: it was handed over, sent back to prefill or submitted again, and no
   * engine has begun that job yet.
   */
  readonly awaitsRun: boolean;
  readonly result: RequestResult | undefined;
}
