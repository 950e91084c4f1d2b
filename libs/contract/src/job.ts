import type { EngineParameters } from './engine-parameters';
import type { Fault } from './fault';
import type { KvTransferParams } from './kv-transfer-params';

/**
 * The work that an engine does for a request. Any engine can do each kind; its role decides which
 * queue feeds it.
 */
export type Stage = 'prefill' | 'decode' | 'aggregated';

export const STAGES: readonly Stage[] = ['prefill', 'decode', 'aggregated'];

/**
 * How a generated sequence ends. `stop` is an end token or a stop string, `length` the token limit,
 * `cache_threshold` the refusal to compute a prompt when the prefix cache holds too little of it.
 */
export type EndReason = 'stop' | 'length' | 'abort' | 'error' | 'cache_threshold';

/**
 * One sequence (one prompt, one choice) on its way through the cluster. It carries lengths and
 * block hashes, never the prompt. The same object goes to the prefill queue and, with another
 * `causeUs` and `submission`, to the decode queue.
 */
export interface EngineJob {
  /** Internal id, unique in the cluster: `<client request id>-<sequence index>`. */
  readonly requestId: string;
  /**
   * Raised by the API when the broker lost the job, and by decode when it sends a request back to
   * prefill. From 1.
   */
  readonly submission: number;
  /** The API process that awaits the tokens, and its handle for this sequence. */
  readonly apiId: string;
  readonly streamId: number;
  /** Logical instant of the cause (arrival, hold), µs since the Unix epoch. */
  readonly causeUs: number;
  /** Arrival of the client's request at the API, µs since the Unix epoch. */
  readonly arrivalUs: number;
  readonly promptTokens: number;
  /**
   * Chained hashes of all full blocks of prompt and output; beyond the array blocks are private.
   */
  readonly blockHashes: readonly number[];
  /**
   * Tokens of the blocks of `blockHashes`; set only where KV-cache events, which name them, are
   * published.
   */
  readonly tokenIds?: readonly number[];
  /** Tokens the sequence will generate. Only the engine may read it, no policy. */
  readonly outputTokens: number;
  /** The reason why it ends after `outputTokens`. */
  readonly endReason: 'stop' | 'length';
  /** The client's token limit, which policies may read. */
  readonly maxTokens: number;
  /** vLLM's priority: lower runs first. */
  readonly priority: number;
  /** Name of the LoRA adapter that answers. Absent: the base model. */
  readonly adapter?: string;
  /** The client's parameters for the engines. Absent: none. */
  readonly engineParameters?: EngineParameters;
  /**
   * `route`: Baton itself hands the prompt over to decode. `hold`: an outside router requested the
   * prefill leg; the blocks stay held and the answer has kv_transfer_params. `attach`: an outside
   * router brought kv_transfer_params. `local`: one engine does everything.
   */
  readonly flow: 'route' | 'hold' | 'attach' | 'local';
  /**
   * Set on `attach`, and on a routed decode job only inside the ledger's hand-over record. On
   * `hold`: blocks that decode has kept from the previous turn, with the beginning of this prompt.
   */
  readonly kvTransferParams?: KvTransferParams;
  /**
   * On `attach`: the blocks are kept at the end for the next turn, and the answer carries their
   * kv_transfer_params.
   */
  readonly keepsKv?: true;
  /** A job for only this engine (exposed engine ports). */
  readonly engineId?: string;
  /** The data-parallel rank that must run it, in every stage. Absent: any, or there is only one. */
  readonly dataParallelRank?: number;
  /**
   * Hash of the client's session or user; placement keeps requests with the same hash together.
   * Absent: none is known.
   */
  readonly sessionKey?: number;
  /**
   * The queue chosen by a placement policy. Absent: the shared queue of the first stage of its
   * flow.
   */
  readonly placed?: Placed;
  /** The decode engine that was chosen at arrival. */
  readonly decodeEngineId?: string;
  /** Faults to inject after the queue. Absent: none. */
  readonly faults?: readonly Fault[];
  /**
   * True when an upstream server answers: its text comes with the tokens, and no later run repeats
   * text.
   */
  readonly executes?: true;
  /** W3C trace context of the API's span, when tracing is on. */
  readonly traceparent?: string;
}

/** The queue of a placed job; it may be taken out and placed again. */
export interface Placed {
  readonly stage: Stage;
  /** An engine's own queue; absent for the stage's shared one. */
  readonly own?: OwnQueue;
}

export interface OwnQueue {
  readonly engineId: string;
  /** The router that placed it, and its ordinal among that router's jobs in this queue, from 1. */
  readonly routerId: string;
  readonly ordinal: number;
}

/** BullMQ job id: never its counter, so that a repeated add is a no-op. */
export function jobId(job: Pick<EngineJob, 'requestId' | 'submission'>): string {
  return `${job.requestId}-${job.submission}`;
}

type FieldCheck = (value: unknown) => boolean;

const isText: FieldCheck = (value) => typeof value === 'string' && value !== '';
const isNumber: FieldCheck = (value) => Number.isFinite(value);
const isCount: FieldCheck = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isPlaced: FieldCheck = (value) =>
  value === undefined || STAGES.includes((value as Placed | null)?.stage as Stage);

/** The fields that every engine reads, in the order in which they are checked. */
const FIELD_CHECKS: Readonly<Partial<Record<keyof EngineJob, FieldCheck>>> = {
  requestId: isText,
  submission: isCount,
  apiId: isText,
  streamId: isCount,
  flow: (value) => ['route', 'hold', 'attach', 'local'].includes(value as string),
  causeUs: isNumber,
  arrivalUs: isNumber,
  promptTokens: isCount,
  blockHashes: (value) => Array.isArray(value) && value.every(isNumber),
  outputTokens: isCount,
  endReason: (value) => value === 'stop' || value === 'length',
  maxTokens: isCount,
  priority: isNumber,
  placed: isPlaced,
};

/**
 * The first field that makes `value` no job, `payload` when there is nothing to read, or undefined
 * for a job. A shared queue can hold what no API wrote, or the id of a job whose data is gone.
 */
export function invalidFieldOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return 'payload';
  const fields = value as Record<string, unknown>;
  return Object.entries(FIELD_CHECKS).find(([name, isValid]) => !isValid(fields[name]))?.[0];
}
