import { assert } from '@baton/kernel';
import { KvLayout } from '@baton/kvcache';
import type { EngineOptions } from './port/engine-options';
import type { SequenceSpec } from './port/engine-port';

type Refusal = 'exceeds-context' | 'exceeds-kv-capacity';

type KvSizes = Pick<
  EngineOptions,
  'blockSize' | 'kvGroups' | 'enableChunkedPrefill' | 'maxNumBatchedTokens' | 'asyncScheduling'
>;

const COUNTS = [
  'maxNumSeqs',
  'maxNumBatchedTokens',
  'blockSize',
  'numBlocks',
  'maxModelLen',
] as const;

/** @throws InvariantError, because the configuration has been checked before. */
export function assertOptions(options: EngineOptions): void {
  for (const name of COUNTS) {
    const value = options[name];
    assert(Number.isInteger(value) && value >= 1, `${name} must be a positive integer: ${value}`);
  }
  assertSpeculation(options);
  assertGroups(options);
  assert(options.longPrefillTokenThreshold >= 0, 'longPrefillTokenThreshold must not be negative');
  assert(
    (options.sjfAgingTokensPerSecond ?? 0) >= 0,
    'sjfAgingTokensPerSecond must not be negative',
  );
  const { hostTier } = options;
  if (hostTier !== undefined) {
    const { blocks, bytesPerBlock, bytesPerSecond } = hostTier;
    assert(Number.isInteger(blocks) && blocks >= 1, `a host tier has blocks: ${blocks}`);
    assert(bytesPerBlock > 0 && bytesPerSecond > 0, 'loading a block takes time');
  }
  const isShared = options.kvPool !== undefined;
  assert(!isShared || hostTier !== undefined, 'a KV pool is made of host tiers');
  const { maxAdapters = 1 } = options;
  assert(Number.isInteger(maxAdapters) && maxAdapters >= 1, 'maxAdapters is a positive integer');
  const { schedulerRecvInterval: every = 1 } = options;
  assert(Number.isInteger(every) && every >= 1, 'schedulerRecvInterval is a positive integer');
  const isPlain = options.speculation === undefined && options.stepTime.pipeline === undefined;
  assert(isPlain || options.promptsFirst !== true, 'prompts go first without drafts and stages');
  assert(options.warmupPenaltyPercent >= 0, 'warmupPenaltyPercent must not be negative');
}

/**
 * The reason why a sequence can never run; undefined when it can. `longestTokens` is the longest
 * sequence that fits in the blocks. The last token of an output is only sampled and needs no KV.
 */
export function refusalOf(
  spec: SequenceSpec,
  options: EngineOptions,
  longestTokens: number,
): Refusal | undefined {
  const { promptTokens, outputTokens, mode } = spec;
  assert(Number.isInteger(promptTokens) && promptTokens >= 1, 'a prompt has tokens');
  assert(Number.isInteger(outputTokens) && outputTokens >= 1, 'an output has tokens');
  if (spec.remoteTokens !== undefined) assertRemote(spec, spec.remoteTokens);
  const isMixed = options.promptsFirst !== true || mode === 'generate';
  assert(isMixed, 'where prompts go first, KV comes from nowhere else and goes nowhere');
  if (promptTokens + outputTokens > options.maxModelLen) return 'exceeds-context';
  const kvTokens = mode === 'prefill-and-hold' ? promptTokens : promptTokens + outputTokens - 1;
  if (kvTokens > longestTokens) return 'exceeds-kv-capacity';
  return undefined;
}

/**
 * The number of blocks that sequences take in an engine with these options. A prompt that is not
 * cut into chunks is computed in one step. A window moves when a step is done, so the tokens of all
 * batches in flight come on top of it: one per pipeline stage, and one formed ahead (vLLM's
 * `max_in_flight_tokens`).
 *
 * @param stages  pipeline stages
 */
export function layoutOfEngine(options: KvSizes, stages: number): KvLayout {
  const { blockSize, kvGroups, enableChunkedPrefill, maxNumBatchedTokens } = options;
  const batches = stages + (options.asyncScheduling === true ? 1 : 0);
  const stepTokens = enableChunkedPrefill ? batches * maxNumBatchedTokens : Infinity;
  return new KvLayout({ blockSize, kvGroups, stepTokens });
}

function assertGroups({ kvGroups }: EngineOptions): void {
  if (kvGroups === undefined) return;
  const { full, windowed, windowTokens } = kvGroups;
  const areCounts = [full, windowed, windowTokens].every((n) => Number.isInteger(n) && n >= 1);
  assert(areCounts, 'groups of layers and the tokens of a window are positive integers');
}

function assertRemote({ mode, promptTokens }: SequenceSpec, remoteTokens: number): void {
  if (mode === 'generate') return;
  const least = mode === 'remote-prefill' ? 1 : 0;
  const isPart = remoteTokens >= least && remoteTokens <= promptTokens;
  assert(Number.isInteger(remoteTokens) && isPart, 'remote tokens are a part of the prompt');
}

function assertSpeculation({ speculation, maxNumBatchedTokens }: EngineOptions): void {
  if (speculation === undefined) return;
  const { tokens, acceptanceRate, draftUs = 0, lookaheadTokens = 0 } = speculation;
  assert(Number.isInteger(tokens) && tokens >= 1, 'speculation drafts at least one token');
  assert(tokens < maxNumBatchedTokens, 'a draft and one token must fit maxNumBatchedTokens');
  assert(acceptanceRate >= 0 && acceptanceRate <= 1, 'an acceptance rate is from 0 to 1');
  assert(draftUs >= 0, 'drafting takes time');
  assert(Number.isInteger(lookaheadTokens) && lookaheadTokens >= 0, 'a look-ahead is in tokens');
}
