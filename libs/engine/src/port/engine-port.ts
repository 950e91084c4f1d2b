import type { EngineParameters } from '@baton/contract';
import type { Micros } from '@baton/kernel';
import type { FreeContents } from '@baton/kvcache';
import type { LockstepRank } from '../lockstep/lockstep';

/**
 * Handle of a sequence inside one engine: a small integer that is reused after the end of the
 * sequence.
 */
export type SequenceHandle = number;

/**
 * The engine copies the fields and keeps references only to `blockHashes` and `parameters`, so a
 * caller can reuse one object.
 */
export interface SequenceSpec {
  /** Seeds the jitter of step-time models that have one; otherwise unused. */
  readonly requestId?: string;
  /** Replaces the hash of `requestId` for callers without names: an integer in [0, 2^53). */
  readonly requestHash?: number;
  readonly promptTokens: number;
  /**
   * True length of the output, >= 1. The engine needs it to end the sequence; policies must
   * not read it.
   */
  readonly outputTokens: number;
  /**
   * `length`: the client's limit ends it, so the scheduler knows the end before the last token is
   * sampled.
   */
  readonly endReason: 'stop' | 'length';
  /**
   * Chained hashes of the full blocks of prompt and output, in order. A shorter list leaves the
   * rest private; an empty one leaves all private.
   */
  readonly blockHashes: ArrayLike<number>;
  /**
   * The part of `blockHashes` that belongs to the request, so that one array can serve all
   * requests. Default: 0 and all that follows.
   */
  readonly blockFrom?: number;
  readonly blockCount?: number;
  readonly priority: number;
  readonly arrivalUs: Micros;
  /**
   * `generate`: compute the prompt and generate. `prefill-and-hold`: compute the prompt, sample one
   * token (thrown away), then hold the blocks. `remote-prefill`: blocks are reserved by `reserve`,
   * their KV arrives from elsewhere, then generate.
   */
  readonly mode: 'generate' | 'prefill-and-hold' | 'remote-prefill';
  /**
   * Leading prompt tokens whose KV arrives from elsewhere, with blocks reserved as for
   * `remote-prefill`; the rest is computed after them. `remote-prefill`: 1 to all of the prompt,
   * unset: all. `prefill-and-hold`: 0 to all, unset: 0. Ignored for `generate`.
   */
  readonly remoteTokens?: number;
  /**
   * The blocks of prompt and output are held when the sequence has ended, until `releaseHeld`.
   * Unset: false. Ignored for `prefill-and-hold`.
   */
  readonly holdsAtEnd?: boolean;
  /** The client's parameters for the engine; kept by reference, so they must not change. */
  readonly parameters?: EngineParameters;
  /**
   * Number of the LoRA adapter that computes the sequence, above 0. Unset or 0: the base model
   * alone.
   */
  readonly adapter?: number;
}

export type AdmissionResult =
  | { readonly kind: 'accepted'; readonly handle: SequenceHandle }
  /**
   * The sequence can never run in this engine: it is longer than the model's context, or needs more
   * blocks than the engine has.
   */
  | { readonly kind: 'refused'; readonly why: 'exceeds-context' | 'exceeds-kv-capacity' };

/**
 * Steps that followed the first by themselves: every running sequence got a token in each. The
 * first step may lack sequences that they have, or compute prompts.
 */
export interface LaterSteps {
  /** 0: the facts are those of one step. */
  readonly steps: number;
  /** Length of the first two of them, and of all together; the lengths grow evenly. */
  readonly firstUs: Micros;
  readonly secondUs: Micros;
  readonly spanUs: Micros;
  /** Tokens of the last of them; of each of them, unless a sequence was aborted since. */
  readonly tokens: number;
  /** Sequences that got their first token in the first of them, `firstUs` after `firstEndUs`. */
  readonly firstTokens: readonly SequenceHandle[];
  /** True when the step before them has the same batch, and a length that fits in with theirs. */
  readonly continue: boolean;
}

/**
 * Facts of the step that has ended, and of those before it since `beginStep`, in the order in which
 * they happen. The engine reuses the object: copy what you keep.
 */
export interface StepFacts {
  /**
   * Start of the first of these steps: the end of the step before, or the instant at which an idle
   * engine got work.
   */
  readonly startUs: Micros;
  /**
   * The instant at which the decoding sequences of the batch got their previous token: `startUs`,
   * or earlier with pipeline stages.
   */
  readonly previousUs: Micros;
  /** End of the first of these steps: `endUs` when there is only one. */
  readonly firstEndUs: Micros;
  readonly endUs: Micros;
  readonly later: LaterSteps;
  /**
   * Sequences that entered a batch for the first time since they were submitted, with their local
   * prefix-cache hit in tokens.
   */
  readonly scheduled: readonly SequenceHandle[];
  /**
   * Sequences that got tokens in this step: `tokensInStep(handle)` of them, the last of index
   * `tokenIndex(handle)`.
   */
  readonly emitted: readonly SequenceHandle[];
  /**
   * Sequences that got their first token, at `firstEndUs`; some can have been aborted since. Those
   * of the step after that are in `later`.
   */
  readonly firstTokens: readonly SequenceHandle[];
  /**
   * `prefill-and-hold` sequences whose prompt is done: their blocks are held until `releaseHeld`.
   */
  readonly held: readonly SequenceHandle[];
  /**
   * Sequences that ended with this step; their blocks are free unless they are held. The handle is
   * valid until the next `beginStep`, or the release.
   */
  readonly finished: readonly SequenceHandle[];
  readonly preempted: readonly SequenceHandle[];
  /**
   * The sequences among `preempted` that still got a token in this step: with async scheduling they
   * left the batch after it.
   */
  readonly preemptedWithToken: readonly SequenceHandle[];
  /**
   * Sequences that ended when the batch was formed because too few of their tokens were cached.
   * They hold no blocks and got no token in this step. The handle is valid until the next
   * `beginStep`.
   */
  readonly rejected: readonly SequenceHandle[];
}

export interface EngineCounters {
  readonly steps: number;
  readonly promptTokensComputed: number;
  readonly promptTokensCached: number;
  /** The part of `promptTokensCached` that was loaded from host memory. */
  readonly promptTokensLoadedFromHost: number;
  /** The part of `promptTokensCached` that was fetched from the memory of other nodes. */
  readonly promptTokensFetched: number;
  readonly promptTokensTransferred: number;
  readonly generatedTokens: number;
  readonly preemptions: number;
  readonly prefixQueriesTokens: number;
  readonly prefixHitsTokens: number;
  /** Number of sequences that got their last token. */
  readonly finished: number;
  readonly aborted: number;
  /** Number of sequences that ended below their cache-hit threshold. */
  readonly rejected: number;
  /** Speculation: pairs of a sequence and a step in which tokens were drafted for it. */
  readonly drafts: number;
  readonly draftTokens: number;
  /** Accepted draft tokens, including those beyond the end of an output, as vLLM counts them. */
  readonly acceptedTokens: number;
}

/**
 * The engine's only interface, for both clocks. Calls are synchronous; the engine reads no clock,
 * awaits nothing, logs nothing. Between `beginStep` and `endStep` every other call is legal and
 * takes effect with the next step. One exception: an aborted sequence emits no token from then on.
 * Its blocks are free when `endStep` returns, or immediately if no step is under way.
 */
export interface EnginePort extends LockstepRank {
  submit(spec: SequenceSpec): AdmissionResult;
  /**
   * The next sequence with remote tokens to which `beginStep` gave blocks, shared with the prefix
   * cache where possible; undefined when there are no more. Call it after every `beginStep`, even
   * one that began no step.
   */
  reserveNext(): Reservation | undefined;
  /**
   * Records that the reserved KV, if any was missing, has arrived: its blocks enter the prefix
   * cache and the sequence waits for a slot. At least the last prompt token is computed again.
   */
  kvArrived(handle: SequenceHandle): void;
  /**
   * Records that the reserved KV will not arrive (kv_load_failure_policy: recompute): at its turn,
   * among those whose KV has arrived, the sequence frees its blocks and is computed in this engine.
   * Changes nothing if no KV was missing.
   */
  kvFailed(handle: SequenceHandle): void;
  /**
   * Ends a sequence in any state, held ones included. Idempotent only until the handle is reused:
   * drop it afterwards.
   */
  abort(handle: SequenceHandle): void;
  releaseHeld(handle: SequenceHandle): void;
  /**
   * Clears all cached prefixes, with `andHost` also those in host memory, and then puts those of
   * `next` there. False, with nothing changed, while any block is in use.
   *
   * @param next  cached contents of another engine; unset: the cache stays empty
   */
  resetPrefixCache(andHost: boolean, next?: FreeContents): boolean;
  /**
   * Forms the batch of the step that starts at `startUs` and returns its end, or undefined when
   * nothing can run now. With async scheduling it also forms the batch of the step after that, so
   * the next call finds its batch formed. With pipeline stages it forms batches until the pipeline
   * is full, and the step is that of the oldest one in flight. A step that only rejects sequences
   * is empty and takes 1 µs. Steps of an unchanged decode batch are laid end to end from one
   * anchor, so their ends do not depend on who begins them.
   */
  beginStep(startUs: Micros): Micros | undefined;
  /**
   * The next instant at which anything else can happen in the engine than that every running
   * sequence gets a token, or one that the next batch has its first: the end of the step under way,
   * or of a later one, at most the first boundary at or after `untilUs`. Changes nothing. Its cost
   * does not depend on the number of steps.
   */
  nextUs(untilUs: Micros): Micros;
  /**
   * Ends the step under way and begins the next one by itself, as often as a step ends before
   * `atUs` and `nextUs` allows it. Call it before a read or a change at an instant after the end of
   * the step under way: state and counters are then those of single steps. The facts come with
   * `endStep`, which only ends the step that is then under way.
   */
  advanceTo(atUs: Micros): void;
  /**
   * True when the step under way, or the next one with its batch formed ahead, may bring first
   * tokens: it has sequences that the step before it lacks, or chunks of prompts.
   */
  readonly bringsFirstTokens: boolean;
  /** Ends the step under way, the next one not begun. */
  endStep(): StepFacts;
  hasWork(): boolean;
  /**
   * True when the step that `beginStep` has begun took sequences out of the queue, so that there is
   * room for others in it before the step ends.
   */
  readonly hasAdmitted: boolean;
  tokensEmitted(handle: SequenceHandle): number;
  /**
   * Tokens that a sequence of `StepFacts.emitted` got in the steps of the last facts: one in each,
   * with speculation a burst.
   */
  tokensInStep(handle: SequenceHandle): number;
  /** Index of the last token that the sequence got. */
  tokenIndex(handle: SequenceHandle): number;
  /** µs after the step's end at which that token appears: seeded jitter, 0 without. */
  tokenOffsetUs(handle: SequenceHandle): number;
  /**
   * Prompt tokens found in the local prefix cache when the sequence was first scheduled (or
   * reserved).
   */
  cachedTokens(handle: SequenceHandle): number;
  /**
   * Tokens of the prompt (after a preemption, of the recomputed tokens) that are in KV; stale once
   * the sequence decodes.
   */
  computedTokens(handle: SequenceHandle): number;
  /** Whether the sequence has a place in the batch: its prompt is being computed, or it decodes. */
  isRunning(handle: SequenceHandle): boolean;
  /** Block ids of a held sequence, for kv_transfer_params. */
  blockIds(handle: SequenceHandle): number[];
  snapshot(): EngineSnapshot;
  readonly counters: EngineCounters;
  /** Blocks that a prefix match can find, used or free. */
  readonly cachedBlocks: number;
  /** Their shared content, which another engine may begin with. O(blocks). */
  sharedCache(): FreeContents;
  /** `counters.acceptedTokens` by their place in the draft; empty without speculation. */
  readonly acceptedPerPosition: readonly number[];
}

/** The engine reuses the object: it is valid until the next call. */
export interface Reservation {
  readonly handle: SequenceHandle;
  /** Remote tokens that the local cache lacks. 0: the step that has begun computes the sequence. */
  readonly missingTokens: number;
  /**
   * The blocks of these tokens over all groups, the begun one included. Groups with a window lack
   * only those of the window.
   */
  readonly missingBlocks: number;
  readonly cachedTokens: number;
}

/** The state that policies, room control and metrics may read. */
export interface EngineSnapshot {
  readonly running: number;
  /** Waiting for budget, slot or blocks. */
  readonly waiting: number;
  /**
   * Sequences that wait for remote KV, and those whose LoRA adapter had no place in the batch
   * (vLLM: deferred).
   */
  readonly deferred: number;
  /** Prompt tokens of waiting sequences that still have to be computed. */
  readonly waitingTokens: number;
  readonly freeBlocks: number;
  readonly heldBlocks: number;
  /** Ended sequences whose blocks the batch in flight still writes to. */
  readonly leaving: number;
  /** 0..1, blocks in use by a sequence (cached but unreferenced blocks are free). */
  readonly kvUsage: number;
}

export interface QueueState {
  readonly batch: (readonly [SequenceHandle, tokens: number])[];
  readonly waiting: SequenceHandle[];
}
