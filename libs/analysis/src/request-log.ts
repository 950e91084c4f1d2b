import type { Micros } from '@baton/kernel';
import { Instants, NEVER } from './instants';
import { type ByteStore, Spill } from './spill';

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

/** Instants of runs with a front end. */
export interface FrontEndColumns {
  /** Instant at which the request has passed the front end and waits for an engine. */
  readonly enqueuedUs: Instants;
  /**
   * Instant at which the request has passed the front end of decode; decode can then fetch its KV.
   */
  readonly offeredUs: Instants;
}

export interface LogParts {
  /** The columns of the workload, which the log then has as its own. Default: columns of zeros. */
  readonly lengths?: { readonly promptTokens: Int32Array; readonly outputTokens: Int32Array };
  readonly hasFrontEnd?: boolean;
  readonly hasFlowControl?: boolean;
  /**
   * Where blocks of instants lie that are not in memory. Latencies are then only counted, so that
   * their percentiles are at most 0.4 % off. Default: all stays in memory.
   */
  readonly store?: ByteStore | undefined;
}

/**
 * The requests of a run, as columns: row i is the i-th request of the workload. Virtual runs,
 * recorded live runs and the load generator fill one, and every report is computed from it.
 * Instants are µs on the run's own timeline. An instant that did not occur (such as the hand-over
 * of an aggregated engine) is `NEVER`. It takes about 60 bytes per request.
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
  readonly arrivalUs: Instants;
  /** Start of the first step on the engine that computes the prompt. */
  readonly prefillStartUs: Instants;
  /** The prompt is computed and held for decode. */
  readonly heldUs: Instants;
  /** Blocks are reserved on decode and the transfer begins. */
  readonly transferStartUs: Instants;
  /** All KV is on the decode engine. */
  readonly transferEndUs: Instants;
  readonly firstTokenUs: Instants;
  readonly finishUs: Instants;
  /** True: latencies are counted, not sorted. */
  readonly isSpilled: boolean;
  /** Undefined: the run has no front end. */
  readonly frontEnd: FrontEndColumns | undefined;
  /** Flow control passes it on. Undefined: the run has no flow control. */
  readonly passedUs: Instants | undefined;

  constructor(
    readonly count: number,
    { lengths, hasFrontEnd = false, hasFlowControl = false, store }: LogParts = {},
  ) {
    const spill = store && new Spill(store);
    const instants = (): Instants => new Instants(count, spill);
    this.isSpilled = spill !== undefined;
    this.outcome = new Uint8Array(count);
    this.promptTokens = lengths?.promptTokens ?? new Int32Array(count);
    this.outputTokens = lengths?.outputTokens ?? new Int32Array(count);
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
  const first = log.firstTokenUs.at(row);
  return first === NEVER ? undefined : first - log.arrivalUs.at(row);
}
