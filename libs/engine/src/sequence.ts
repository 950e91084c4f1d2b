import type { EngineParameters } from '@baton/contract';
import { BlockList } from '@baton/kvcache';
import { assert, hashString, InvariantError, type Micros, NOT_YET } from '@baton/kernel';
import type { AdmissionResult, SequenceHandle, SequenceSpec } from './port/engine-port';

const NO_PARAMETERS: EngineParameters = {};

/** `burst` of a sequence to which the last decode step gave no token; tests compare with 0. */
export const NO_TOKEN = -1;
/** `drafts` of a sequence without a row in the latest batch; tests compare with 0. */
export const NO_ROW = -1;
/** `rank` of a sequence that was not admitted yet. */
const NOT_ADMITTED = -1;
/** An index of a sequence that is not in the list. */
export const NOT_LISTED = -1;

/**
 * - `waiting`: for budget, slot and blocks
 * - `unreserved`: remote prefill without blocks
 * - `deferred`: its blocks wait for their KV
 * - `ready`: the KV has arrived, or will not; it waits for a slot
 * - `prefilling`, `decoding`: it runs
 * - `ending`: with async scheduling, the step under way brings its last token; no later batch has
 *   it
 * - `stalled`: the batch after the step under way omits it, for lack of blocks or for prompts
 * - `held`: done; its blocks wait to be fetched
 * - `leaving`: ended; a batch in flight writes to its blocks
 * - `gone`
 */
export type SequenceState =
  | 'waiting'
  | 'unreserved'
  | 'deferred'
  | 'ready'
  | 'prefilling'
  | 'decoding'
  | 'ending'
  | 'stalled'
  | 'held'
  | 'leaving'
  | 'gone';

/**
 * One sequence inside one engine. The record belongs to a slot of the sequence table and is reused
 * with its block list, so a token costs no allocation. During decode its progress is not stored
 * here but follows from the counters of the decode set.
 */
export class EngineSequence {
  state: SequenceState = 'gone';
  mode: SequenceSpec['mode'] = 'generate';
  /** Leading prompt tokens whose KV comes from elsewhere; 0 if it turns out that none comes. */
  remoteTokens = 0;
  holdsAtEnd = false;
  /**
   * Whether the token limit ends the sequence, so that its last token is known before it is
   * sampled.
   */
  endsByLimit = false;
  promptTokens = 0;
  outputTokens = 0;
  priority = 0;
  arrivalUs: Micros = NOT_YET;
  parameters: EngineParameters = NO_PARAMETERS;
  requestHash = 0;
  /** LoRA adapter; 0: none. */
  adapter = 0;
  /** Order of submission. */
  order = 0;
  /** Place in the waiting queue, by the scheduling policy. */
  key = 0;
  tieKey = 0;
  /** Order of admission to the running batch; a resumed sequence gets a new one. */
  rank = NOT_ADMITTED;

  readonly blocks = new BlockList();
  /** The blocks of the other layer groups; empty when these are only counted or do not exist. */
  readonly others: BlockList[] = [];
  /**
   * Leading blocks that groups with a sliding window have freed. Stale while decoding, except when
   * `isBehind`.
   */
  slid = 0;
  /**
   * True when it decodes and the blocks that its prompt left outside of the window are not freed
   * yet.
   */
  isBehind = false;

  /**
   * Tokens whose KV is in host memory and has to be loaded by the step that admits the sequence.
   */
  hostTokens = 0;
  /** Tokens that this step has to fetch from the memory of other nodes. */
  poolTokens = 0;
  /**
   * Blocks that the sequence needs for its prompt in addition to its own, while its KV is on the
   * way or waits for a slot.
   */
  owedBlocks = 0;
  /** Tokens in KV. Stale while decoding. */
  computed = 0;
  /** Tokens produced. Stale while decoding. */
  emitted = 0;
  /**
   * The part of `computed` that batches in flight compute, with pipeline stages or async
   * scheduling.
   */
  inFlight = 0;
  /** Prompt tokens to compute in the step under way. */
  chunk = 0;
  /** Speculation: empty drafts in the step under way. */
  padding = 0;
  /**
   * Tokens beyond the first that the last decode step gave it: more than 0 only with speculation;
   * `NO_TOKEN` when the step gave it none.
   */
  burst = 0;
  /** Drafts of its row in the latest batch: 0 without speculation; `NO_ROW` without a row. */
  drafts = 0;
  /** While decoding: the decode step, counted by the set, after which it ends. */
  finishAt = 0;
  /** While decoding: tokens in KV minus the set's step counter, a constant. */
  contextOffset = 0;

  cachedTokens = 0;
  /**
   * Leading prompt tokens whose source is already counted; a recomputation does not count them
   * again.
   */
  accountedTokens = 0;
  wasScheduled = false;
  wasQueried = false;
  /** Whether the sequence was aborted while its step was under way. */
  isDoomed = false;

  /** Index in its heap, in the list of its decode set and in its phase; each maintains its own. */
  heapIndex = NOT_LISTED;
  memberIndex = NOT_LISTED;
  /** While decoding: index of its decode set. */
  decodeSet = 0;
  phaseIndex = NOT_LISTED;

  /** The result for a submission that took this slot; one object for all. */
  readonly admission: AdmissionResult;

  constructor(readonly handle: SequenceHandle) {
    this.admission = { kind: 'accepted', handle };
  }

  /**
   * Tokens that must be in KV before the next one can be sampled: the prompt and, after a
   * preemption, what was generated.
   */
  get targetTokens(): number {
    return this.promptTokens + this.emitted;
  }

  /** Whether the last decode step gave it a token. */
  get gotToken(): boolean {
    return this.burst !== NO_TOKEN;
  }

  /** Whether it has a row in the latest batch. */
  get hasRow(): boolean {
    return this.drafts !== NO_ROW;
  }

  begin(spec: SequenceSpec, order: number): void {
    this.mode = spec.mode;
    this.remoteTokens = remoteTokensOf(spec);
    this.holdsAtEnd = spec.holdsAtEnd === true && spec.mode !== 'prefill-and-hold';
    this.endsByLimit = spec.endReason === 'length';
    this.promptTokens = spec.promptTokens;
    this.outputTokens = spec.outputTokens;
    this.blocks.describe(spec.blockHashes, spec.blockFrom, spec.blockCount);
    this.priority = spec.priority;
    this.arrivalUs = spec.arrivalUs;
    this.order = order;
    this.rank = NOT_ADMITTED;
    this.parameters = spec.parameters ?? NO_PARAMETERS;
    this.adapter = spec.adapter ?? 0;
    this.slid = 0;
    this.isBehind = false;
    this.computed = 0;
    this.emitted = 0;
    this.inFlight = 0;
    this.chunk = 0;
    this.padding = 0;
    this.burst = 0;
    this.drafts = 0;
    this.hostTokens = 0;
    this.poolTokens = 0;
    this.owedBlocks = 0;
    this.cachedTokens = 0;
    this.accountedTokens = 0;
    this.wasScheduled = false;
    this.wasQueried = false;
    this.isDoomed = false;
  }

  /** Whether the sequence has a place in the batch. */
  get isRunning(): boolean {
    const { state } = this;
    if (state === 'decoding' || state === 'prefilling') return true;
    return state === 'ending' || state === 'stalled';
  }

  /** Whether the sequence has its last token and counts as ended, although its blocks are held. */
  get isOver(): boolean {
    return this.state === 'held' && this.mode !== 'prefill-and-hold';
  }

  /**
   * Drops the references that the caller passed in; the progress stays readable until the record is
   * reused.
   */
  endSequence(): void {
    this.state = 'gone';
    this.blocks.forget();
    for (const list of this.others) list.forget();
  }
}

function remoteTokensOf({ mode, remoteTokens, promptTokens }: SequenceSpec): number {
  if (mode === 'generate') return 0;
  return remoteTokens ?? (mode === 'remote-prefill' ? promptTokens : 0);
}

/** The hash that seeds the random draws of a request. */
export function requestHashOf({ requestId, requestHash }: SequenceSpec): number {
  const isNamed = requestId !== undefined || requestHash !== undefined;
  assert(isNamed, 'jitter and speculation need to know the request');
  return requestHash ?? hashString(requestId!);
}

/** @throws InvariantError for a sequence in any other state */
export function expectState(seq: EngineSequence, one: SequenceState, other: SequenceState): void {
  if (seq.state === one || seq.state === other) return;
  throw new InvariantError(`sequence ${seq.handle} is ${seq.state}, not ${one}`);
}
