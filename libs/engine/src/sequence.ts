import { BlockList } from '@baton/kvcache';
import type { SequenceHandle, SequenceSpec } from './types';

/**
 * Where a sequence is. `remote`: waits for a reservation; `reserved`: its KV is on the way; `waiting`: could be scheduled; `prefilling` and
 * `decoding`: in the batch; `held`: computed, kept for a reader.
 */
export type SequenceState =
  'remote' | 'reserved' | 'waiting' | 'prefilling' | 'decoding' | 'held' | 'gone';

/** One sequence inside an engine. While it decodes, `computed`, `generated` and `blocks` are those of `settledAt`; see DecodeRun. */
export interface Sequence {
  readonly handle: SequenceHandle;
  readonly spec: SequenceSpec;
  readonly requestHash: number;
  /** Order of submission: first come first served. */
  readonly order: number;
  state: SequenceState;
  /** Tokens whose KV is in `blocks`. */
  computed: number;
  /** Tokens generated so far; recomputation does not take them back. */
  generated: number;
  readonly blocks: BlockList;
  /** Leading blocks that the prefix index knows or that need not enter it. */
  published: number;
  /** Prompt tokens found in the cache, and got by a transfer, when the sequence came in. */
  cached: number;
  transferred: number;
  wasScheduled: boolean;
  promptWasCounted: boolean;
  /** Tokens computed in the step under way (not for decoding sequences). */
  chunk: number;
  isDoomed: boolean;
  settledAt: number;
  runIndex: number;
  finishStep: number;
  /** Neighbours in the order of admission to the batch. */
  before: Sequence | undefined;
  after: Sequence | undefined;
}

/** Tokens that must be in KV before the next token can be sampled. */
export function tokensToCompute(sequence: Sequence): number {
  return sequence.spec.promptTokens + sequence.generated;
}

export function newSequence(
  handle: SequenceHandle,
  spec: SequenceSpec,
  ids: { requestHash: number; order: number },
): Sequence {
  return {
    handle,
    spec,
    ...ids,
    state: spec.mode === 'remote-prefill' ? 'remote' : 'waiting',
    computed: 0,
    generated: 0,
    blocks: new BlockList(),
    published: 0,
    cached: 0,
    transferred: 0,
    wasScheduled: false,
    promptWasCounted: false,
    chunk: 0,
    isDoomed: false,
    settledAt: 0,
    runIndex: -1,
    finishStep: 0,
    before: undefined,
    after: undefined,
  };
}
