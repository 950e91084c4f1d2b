import type {
  EndReason,
  EngineJob,
  EnginePresence,
  Epoch,
  KvTransferParams,
  Placed,
  Stage,
} from '@baton/contract';
import type { Punctuality } from './punctuality';

export { DEFAULT_TIMES, type TransportTimes } from './times';

/**
 * The one port between processes, stated in semantics. Two adapters implement it, Redis (bullmq +
 * ioredis) and in-process, and one conformance suite runs on both. Every call has a deadline: it
 * rejects with a `TransportUnavailable` instead of hanging.
 */
export interface Transport {
  /** One log line's worth: `Redis 7.0.15 at unix:...`, `in-process`. */
  readonly description: string;
  /** False while the broker cannot be reached. */
  readonly isConnected: boolean;
  readonly jobs: JobQueues;
  readonly bus: Bus;
  readonly ledger: RequestLedger;
  readonly presence: PresenceBoard;
  readonly admission: AdmissionCounters;
  readonly documents: DocumentStore;
  readonly rates: RateBudgets;
  /** The pauses of this process. */
  readonly punctuality: Punctuality;
  /**
   * `lost`: no connection. `restored`: the same server, nothing was lost but messages. `replaced`:
   * another server run; its data may be gone.
   */
  onConnection(listener: (event: 'lost' | 'restored' | 'replaced') => void): void;
  close(): Promise<void>;
}

/**
 * Where a job waits: the shared queue of a stage, that of one data-parallel rank of its engines, or
 * the own queue of one engine.
 */
export type QueueName = Stage | `${Stage}:rank-${number}` | `engine:${string}`;

export interface JobQueues {
  /** Adds all jobs in one round trip. A job id that is already queued or running is left alone. */
  add(queue: QueueName, jobs: readonly EngineJob[]): Promise<void>;
  consume(queue: QueueName, options: ConsumeOptions): JobConsumer;
  /** Jobs that wait in the queue (not those taken). */
  waiting(queue: QueueName): Promise<number>;
  /**
   * Ends the own queue of a lost engine: takes every job out of it, waiting or held, and returns
   * them. Two callers never get the same job.
   */
  abandon(queue: QueueName): Promise<EngineJob[]>;
  /**
   * Takes the jobs out of an engine's own queue that a policy placed there (`job.placed`) and that
   * nobody holds: those that wait, and those whose holder has let its lock run out. Two callers
   * never get the same job. What the engine holds stays with it.
   */
  reclaim(queue: QueueName): Promise<EngineJob[]>;
}

export interface ConsumeOptions {
  /**
   * How many further jobs may be taken now, 0 to stop. Asked before each take, and again after
   * `JobConsumer.wake()`.
   */
  room(): number;
  /** A taken job. It stays locked, its lock renewed, until `done` or `giveBack`. */
  onJob(job: TakenJob): void;
  /**
   * The lock of a taken job is lost: another worker has taken the job since (this process was
   * late), or the broker forgot it. End the run now.
   */
  onLockLost(job: TakenJob): void;
}

export interface TakenJob {
  readonly job: EngineJob;
  /** Removes the job. Resolves false when the lock was no longer ours. */
  done(): Promise<boolean>;
  /** Puts the job back in front, for a worker that drains. */
  giveBack(): Promise<void>;
}

export interface JobConsumer {
  /** Room may have grown. */
  wake(): void;
  /** Stops taking, keeps renewing the locks of what runs. */
  pause(): void;
  /** Stops taking and renewing. Jobs still held stall and move to another worker. */
  close(): Promise<void>;
}

/** Fire-and-forget messages; a subscriber may miss, never reorder, what one publisher sends. */
export interface Bus {
  publish(channel: string, payload: Buffer): void;
  subscribe(channel: string, listener: (payload: Buffer) => void): Promise<Unsubscribe>;
}

export type Unsubscribe = () => Promise<void>;

export const channels = {
  api: (apiId: string): string => `api:${apiId}`,
  engine: (engineId: string): string => `engine:${engineId}`,
  /** All workers listen: JSON `{ requestIds: string[] }`. */
  aborts: 'aborts',
  /** All workers and API processes listen: JSON `Operation`. */
  operations: 'operations',
  /** Who asked for one operation listens: JSON `OperationReply`. */
  replies: (operationId: string): string => `replies:${operationId}`,
  /** All API processes listen: the id of a response. */
  cancelledResponses: 'cancelled-responses',
  /**
   * All API processes listen: JSON `{ id, from }`, who wants the events of a response and from
   * which on.
   */
  followedResponses: 'followed-responses',
  /** API processes that follow a response listen: its events as they go over a stream. */
  responseEvents: (id: string): string => `response-events:${id}`,
  /** One API process listens: JSON `EngineFacts`. */
  timelines: (apiId: string): string => `timelines:${apiId}`,
  /** All API processes listen: JSON `{ id, replyTo }`, who knows the timeline of a request. */
  timelineQuestions: 'timeline-questions',
  /** All API processes listen: the list of LoRA adapters has changed. */
  adapters: 'adapters',
  /** Whoever obeys settings that change at run time listens: they have changed. */
  settings: 'settings',
  /** Routers listen: JSON `EngineLoad`. */
  loads: 'loads',
} as const;

/**
 * The record of each request that is under way, and its tombstone afterwards. Every method is
 * atomic. It fences: whoever holds an older epoch than the record is told so and changes nothing.
 */
export interface RequestLedger {
  /** Opens a run of `stage`. Creates the record when it is the first. */
  begin(start: RunStart): Promise<RunPermit>;
  /**
   * Prefill is done: stores where the KV lies and moves the record's stage to decode. False when
   * the epoch is not the record's newest, the request was aborted or is finished: the caller
   * releases its blocks. A repeat by the same epoch is true again.
   */
  handOff(requestId: string, epoch: Epoch, handoff: HandoffRecord): Promise<boolean>;
  /**
   * Decode found its KV source lost: stage back to prefill under the next submission, whose number
   * is returned. Undefined when fenced out. A repeat by the same epoch returns the same number.
   */
  returnToPrefill(requestId: string, epoch: Epoch): Promise<number | undefined>;
  /**
   * A run ends because its engine leaves, or was late, through no fault of the request: it does
   * not count against `maxRuns`, also when a newer run has begun. Changes nothing when said again,
   * or when the run has done its part.
   */
  withdraw(requestId: string, epoch: Epoch): Promise<void>;
  /**
   * Terminal: stores the result as tombstone for `tombstoneMs`. False when fenced out or already
   * terminal.
   */
  finish(requestId: string, epoch: Epoch, result: RequestResult): Promise<boolean>;
  /**
   * Stores the abort; the record becomes terminal, whoever runs it. Unknown ids get a tombstone
   * too, so a later `begin` is refused.
   */
  abort(requestIds: readonly string[]): Promise<void>;
  /**
   * The API submits again after the broker lost things. Runs of lower submissions are fenced out
   * from now on; any stage may begin.
   */
  resubmit(again: Resubmission): Promise<void>;
  /**
   * The API that awaits it seems dead, as `nobody-awaits` from `begin`: whoever inspects it sees it
   * as aborted, until that API submits it again. Nothing happens when the record is terminal, names
   * no API, or its API lives.
   */
  abandon(requestId: string): Promise<void>;
  /** One view per id, in order; undefined where there is no record. */
  inspect(requestIds: readonly string[]): Promise<(RequestView | undefined)[]>;
  /**
   * What an executing stage needs: prompts, bodies. Bounded (`too-large` beyond it) and with TTL.
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
  /** Not to be run; the job is to be removed. */
  | {
      readonly kind: 'drop';
      readonly why: 'aborted' | 'finished' | 'superseded' | 'moved-on' | 'nobody-awaits';
    }
  /**
   * Not to be run, but whoever ran it may have died between the ledger's word and the next job: add
   * the decode job (`handed-over`), or the prefill job of `submission` (`returned`), before
   * removing this one. Adding a job that is there already changes nothing.
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
   * Where the decode job goes, so that whoever adds it again finds it there. Absent: in the shared
   * queue.
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
  /**
   * Who awaits it: without that the record would seem to be awaited by nobody until its first run.
   */
  readonly apiId: string;
}

export interface RequestView {
  readonly stage: Stage | 'finished';
  readonly epoch: Epoch;
  readonly engineId: string;
  /**
   * Aborted, or dropped because its API seemed dead (`nobody-awaits`); an API that lives submits
   * again under a higher number.
   */
  readonly isAborted: boolean;
  readonly isApiAlive: boolean;
  /**
   * A job of it lies in a queue: it was handed over, sent back to prefill or submitted again, and
   * nobody has begun that yet.
   */
  readonly awaitsRun: boolean;
  readonly result: RequestResult | undefined;
}

export interface PresenceBoard {
  /** Renews this engine's entry for `ttlMs`; the full presence is stored. */
  announceEngine(engine: EnginePresence, ttlMs: number): Promise<void>;
  removeEngine(engineId: string): Promise<void>;
  engines(): Promise<EnginePresence[]>;
  /**
   * The smallest index that no living engine has, claimed for `engineId` while it keeps announcing
   * itself.
   */
  claimIndex(engineId: string): Promise<number>;
  announceApi(apiId: string, ttlMs: number): Promise<void>;
  removeApi(apiId: string): Promise<void>;
  aliveApis(apiIds: readonly string[]): Promise<boolean[]>;
}

/**
 * How many requests wait for a stage, over all API processes, as one atomic decision. Each API owns
 * a share, so a dead API's share vanishes with its presence and counts cannot drift.
 */
export interface AdmissionCounters {
  /**
   * Adds `count` to this API's share of `stage` if the sum of all living shares then stays within
   * `limit`.
   */
  tryEnter(apiId: string, stage: Stage, count: number, limit: number): Promise<boolean>;
  /** Moves shares by deltas (negative: left the stage's queue). */
  shift(apiId: string, deltas: Readonly<Partial<Record<Stage, number>>>): Promise<void>;
  totals(): Promise<Record<Stage, number>>;
}

/**
 * Documents that any process may read: small, few, and forgotten after a while. A collection holds
 * the latest used of them; evicted, expired and removed ones are gone alike.
 */
export interface DocumentStore {
  /** Stores or overwrites. `too-large`: nothing was stored. */
  put(
    place: DocumentPlace,
    document: string,
    bounds: CollectionBounds,
  ): Promise<'stored' | 'too-large'>;
  /**
   * Overwrites a document that still is what the caller has read. `changed`: it is another one, or
   * gone; nothing was stored.
   */
  replace(
    place: DocumentPlace,
    change: DocumentChange,
    bounds: CollectionBounds,
  ): Promise<'replaced' | 'changed' | 'too-large'>;
  /** Counts as a use. */
  get(place: DocumentPlace): Promise<string | undefined>;
  /** False when there was none. Of two callers one gets true. */
  remove(place: DocumentPlace): Promise<boolean>;
}

export interface DocumentPlace {
  readonly collection: string;
  readonly id: string;
}

export interface DocumentChange {
  readonly from: string;
  readonly to: string;
}

export interface CollectionBounds {
  /** The least recently used beyond it go. */
  readonly maxEntries: number;
  /** Since it was last written. */
  readonly ttlMs: number;
}

/**
 * What an owner may use up in a minute, over all API processes. A budget is as large as its limit
 * and fills evenly: an empty one is full again after a minute. One that was never touched is full,
 * and a full one is forgotten.
 */
export interface RateBudgets {
  /**
   * Takes an amount from every named budget if each holds that much, else from none: one atomic
   * decision. An amount of 0 only looks, and is refused by a budget in debt.
   */
  take(owner: string, takes: readonly BudgetTake[]): Promise<BudgetAnswer>;
  /**
   * Takes what was used beyond an earlier `take`, into debt if need be; a negative amount gives
   * back.
   */
  settle(owner: string, take: BudgetTake): Promise<void>;
}

export interface BudgetTake {
  readonly budget: string;
  /** Per minute, at least 1. */
  readonly limit: number;
  readonly amount: number;
}

export interface BudgetAnswer {
  readonly isTaken: boolean;
  /** As they are now, in the order in which they were named. */
  readonly states: readonly BudgetState[];
}

export interface BudgetState {
  /** Whole units, 0 for a budget in debt. */
  readonly remaining: number;
  /** Until it is full, if nothing more is taken. */
  readonly fullInMs: number;
}

export class TransportUnavailable extends Error {
  constructor(what: string) {
    super(`The message broker is not reachable (${what}).`);
    this.name = 'TransportUnavailable';
  }
}

/** The broker's memory limit is reached; the request was not stored. */
export class TransportOutOfMemory extends Error {
  constructor() {
    super('The message broker is out of memory.');
    this.name = 'TransportOutOfMemory';
  }
}
