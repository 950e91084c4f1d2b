import type { Micros } from '@baton/kernel';

/** The possible ends of a request. */
export const OUTCOMES = ['unfinished', 'completed', 'rejected', 'refused', 'failed'] as const;

/**
 * `rejected`: admission rejected it (429). `refused`: it never fits the model's context or an
 * engine's KV (400). `failed`: it was lost in the cluster (500). `unfinished`: the run ended
 * earlier.
 */
export type Outcome = (typeof OUTCOMES)[number];

/** Index of an outcome in `OUTCOMES`, the value of the `outcome` column. */
export function outcomeCode(outcome: Outcome): number {
  return OUTCOMES.indexOf(outcome);
}

/** The value of each `…Us` column for an instant that has not occurred. */
export const NEVER = -1;

/** Instants of runs with a front end. */
export interface FrontEndColumns {
  /** Instant at which the request has passed the front end and waits for an engine. */
  readonly enqueuedUs: Float64Array;
  /**
   * Instant at which the request has passed the front end of decode; decode can then fetch its KV.
   */
  readonly offeredUs: Float64Array;
}

/**
 * The requests of a run, as columns: row i is the i-th request of the workload. Virtual runs,
 * recorded live runs and the load generator fill one, and every report is computed from it.
 * Instants are µs on the run's own timeline. An instant that did not occur (such as the hand-over
 * of an aggregated engine) is `NEVER`. It takes about 90 bytes per request.
 */
export class RequestLog {
  readonly outcome: Uint8Array;
  readonly promptTokens: Int32Array;
  /** Tokens that the request generates in total. `emittedTokens` counts those so far. */
  readonly outputTokens: Int32Array;
  readonly emittedTokens: Int32Array;
  /** Prompt tokens found in the prefix cache of the engine that computed the prompt. */
  readonly cachedTokens: Int32Array;
  /** Prompt tokens whose KV came over a link. */
  readonly transferredTokens: Int32Array;
  readonly preemptions: Uint16Array;
  /** Index of the engine that computed the prompt and of the one that generated; -1 = none yet. */
  readonly prefillEngine: Int16Array;
  readonly decodeEngine: Int16Array;
  /** The client sends it (arrival at the API). */
  readonly arrivalUs: Float64Array;
  /** Start of the first step on the engine that computes the prompt. */
  readonly prefillStartUs: Float64Array;
  /** The prompt is computed and held for decode. */
  readonly heldUs: Float64Array;
  /** Blocks are reserved on decode and the transfer begins. */
  readonly transferStartUs: Float64Array;
  /** All KV is on the decode engine. */
  readonly transferEndUs: Float64Array;
  readonly firstTokenUs: Float64Array;
  readonly finishUs: Float64Array;
  /** Undefined: the run has no front end. */
  readonly frontEnd: FrontEndColumns | undefined;
  /** Flow control passes it on. Undefined: the run has no flow control. */
  readonly passedUs: Float64Array | undefined;

  constructor(
    readonly count: number,
    { hasFrontEnd = false, hasFlowControl = false } = {},
  ) {
    const instants = (): Float64Array => new Float64Array(count).fill(NEVER);
    this.outcome = new Uint8Array(count);
    this.promptTokens = new Int32Array(count);
    this.outputTokens = new Int32Array(count);
    this.emittedTokens = new Int32Array(count);
    this.cachedTokens = new Int32Array(count);
    this.transferredTokens = new Int32Array(count);
    this.preemptions = new Uint16Array(count);
    this.prefillEngine = new Int16Array(count).fill(-1);
    this.decodeEngine = new Int16Array(count).fill(-1);
    this.arrivalUs = instants();
    this.prefillStartUs = instants();
    this.heldUs = instants();
    this.transferStartUs = instants();
    this.transferEndUs = instants();
    this.firstTokenUs = instants();
    this.finishUs = instants();
    this.frontEnd = hasFrontEnd ? { enqueuedUs: instants(), offeredUs: instants() } : undefined;
    this.passedUs = hasFlowControl ? instants() : undefined;
  }
}

/** Time to first token, µs. Undefined before the first token. */
export function ttftUs(log: RequestLog, row: number): Micros | undefined {
  const first = log.firstTokenUs[row]!;
  return first === NEVER ? undefined : first - log.arrivalUs[row]!;
}
