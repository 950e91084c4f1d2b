import { assert } from '@baton/kernel';
import type { LengthSpec } from '../length-model';
import { MOST_CONTENTS, MOST_TOKENS, type Workload, WorkloadError } from '../workload';
import { lengthsFor, workloadStream } from './draw-lengths';
import { picker, type Popularity } from './popularity';

/** The prefixes that prompts share. */
export type SharedPrefixes = {
  /** Number of different prefixes. */
  readonly prefixes: number;
  readonly popularity: Popularity;
} & (
  | {
      /** Share of a prompt's full blocks that are shared, 0 to 1 (rounded to blocks). */
      readonly share: number;
    }
  | {
      /**
       * Shared tokens before those that `prompt` draws (`vllm bench serve`: --random-prefix-len,
       * --prefix-repetition-prefix-len). Their full blocks are shared.
       */
      readonly prefixTokens: number;
    }
);

export interface SingleTurnSpec {
  /** Arrivals of the requests, ascending (`drawArrivals`). */
  readonly arrivalUs: Float64Array;
  readonly prompt: LengthSpec;
  readonly output: LengthSpec;
  /** Default: nothing is shared. */
  readonly shared?: SharedPrefixes | undefined;
  /** Tokens per content id, the engine's block size. */
  readonly blockTokens: number;
  readonly seed: number;
}

/**
 * Independent requests that share at most prefixes of their prompts, as configured. Lengths are at
 * most 10^9 tokens.
 *
 * @throws WorkloadError when prompts share more than 2^31 blocks in all
 */
export function generateSingleTurn(spec: SingleTurnSpec): Workload {
  const count = spec.arrivalUs.length;
  const promptTokens = new Int32Array(count);
  const outputTokens = new Int32Array(count);
  const promptOf = lengthsFor(spec.prompt, spec.seed, 'prompts');
  const outputOf = lengthsFor(spec.output, spec.seed, 'outputs');
  const before = prefixTokensOf(spec.shared);
  for (let row = 0; row < count; row++) {
    promptTokens[row] = Math.min(MOST_TOKENS, before + promptOf(row));
    outputTokens[row] = Math.min(MOST_TOKENS, outputOf(row));
  }
  return {
    count,
    arrivalUs: spec.arrivalUs,
    promptTokens,
    outputTokens,
    maxTokens: new Int32Array(0),
    after: new Int32Array(0),
    session: new Float64Array(0),
    priority: new Int32Array(0),
    ...(spec.shared === undefined
      ? nothingShared(count)
      : sharedContents(promptTokens, spec.shared, spec)),
    contentBlockTokens: spec.blockTokens,
    contentSpan: 'prompt',
    requestIdStart: new Float64Array(0),
    requestIdUnits: new Uint16Array(0),
  };
}

type Contents = Pick<Workload, 'contentStart' | 'contentIds' | 'contentCount'>;

function nothingShared(count: number): Contents {
  return {
    contentStart: new Float64Array(count + 1),
    contentIds: new Int32Array(0),
    contentCount: 0,
  };
}

/**
 * Works in two passes: the length of each prefix, so that the blocks of one prefix follow those of
 * another; then the ids.
 */
function sharedContents(
  promptTokens: Int32Array,
  shared: SharedPrefixes,
  spec: SingleTurnSpec,
): Contents {
  const count = promptTokens.length;
  const pick = picker(shared.popularity, shared.prefixes, workloadStream(spec.seed, 'prefixes'));
  const blocksOf = sharedBlocks(shared, spec.blockTokens);
  const prefix = new Int32Array(count);
  const longest = new Int32Array(shared.prefixes);
  const contentStart = new Float64Array(count + 1);
  for (let row = 0; row < count; row++) {
    const k = pick();
    const blocks = blocksOf(promptTokens[row]!);
    prefix[row] = k;
    if (blocks > longest[k]!) longest[k] = blocks;
    contentStart[row + 1] = contentStart[row]! + blocks;
  }
  assertContents(contentStart[count]!);
  const firstIds = new Int32Array(shared.prefixes);
  let contentCount = 0;
  for (let k = 0; k < shared.prefixes; k++) {
    firstIds[k] = contentCount + 1;
    contentCount += longest[k]!;
  }
  const contentIds = new Int32Array(contentStart[count]!);
  for (let row = 0; row < count; row++) {
    const to = contentStart[row + 1]!;
    for (let at = contentStart[row]!, id = firstIds[prefix[row]!]!; at < to; at++, id++) {
      contentIds[at] = id;
    }
  }
  return { contentStart, contentIds, contentCount };
}

/** @throws WorkloadError when the contents of a workload exceed the size of a column */
export function assertContents(blocks: number): void {
  if (blocks > MOST_CONTENTS) {
    throw new WorkloadError(
      `These requests share ${blocks} blocks, more than the limit of ${MOST_CONTENTS}: use ` +
        'fewer or shorter ones.',
    );
  }
}

function prefixTokensOf(shared: SharedPrefixes | undefined): number {
  return shared !== undefined && 'prefixTokens' in shared ? shared.prefixTokens : 0;
}

/** Number of shared blocks of a prompt of this many tokens. */
function sharedBlocks(shared: SharedPrefixes, blockTokens: number): (tokens: number) => number {
  if ('prefixTokens' in shared) {
    const blocks = Math.floor(shared.prefixTokens / blockTokens);
    return () => blocks;
  }
  const { share } = shared;
  assert(share >= 0 && share <= 1, `invalid share: ${share}`);
  return (tokens) => Math.round(Math.floor(tokens / blockTokens) * share);
}
