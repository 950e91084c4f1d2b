import { Failure } from '../../failure';
import type { EngineCounts } from './topology-of';
import type { DecodeCell } from './measure-decode';
import { measureDecode } from './measure-decode';
import { measurePrompts, onePrompt, type PromptCell } from './measure-prompts';
import type { Measurements } from './decompose';
import type { Measuring } from './measuring';

/** Which points are measured. */
export interface Grid {
  readonly promptLengths: readonly number[];
  readonly batches: readonly number[];
  readonly contexts: readonly number[];
  /** Token budget of a step: longer prompts take several. */
  readonly maxNumBatchedTokens: number;
}

const WARM_UPS = 3;
const SHORTEST = 1;
/** Of a shorter prompt attention takes too little to be seen. */
const WORTH_A_PREFIX = 128;
/** Steps that the longest prompt takes at most. */
const MOST_CHUNKS = 8;

/** Measures one stage at a time: prompts one by one, then batches of streams. */
export async function measureGrid(
  measuring: Measuring,
  grid: Grid,
  engines: EngineCounts,
): Promise<Measurements> {
  const { maxModelLen, say } = measuring;
  const lengths = withChunks(grid).filter((tokens) => tokens < maxModelLen);
  const left = grid.promptLengths.filter((tokens) => tokens >= maxModelLen);
  if (left.length > 0) say(`prompts of ${left.join(', ')} tokens are left out: too long`);
  const first = { tokens: lengths[0] ?? SHORTEST, prefix: 0 };
  await measurePrompts({ ...measuring, rounds: WARM_UPS, say: () => undefined }, [first]);
  const [shortest, ...measured] = await measurePrompts(measuring, cellsOfPrompts(lengths, grid));
  const decoding = engines.decode + engines.aggregated;
  const decode = await measureDecode(measuring, cellsOf(grid, maxModelLen), decoding);
  // Without a cache, or a word of it, a prompt with a prefix is one more of its length.
  const prompts = measured.filter(({ cached }, i) => i < lengths.length || cached > 0);
  if (prompts.length === 0 || decode.length === 0) {
    throw new Failure('Too little of the grid could be measured: give shorter prompts.');
  }
  const longest = Math.max(...lengths);
  const bytes = await measuring.target.kvBytesOf(onePrompt(longest));
  return {
    kvBytesPerToken: bytes === undefined ? undefined : Math.round(bytes / longest),
    ...{ shortest: shortest!, prompts, decode, isHandedOver: engines.prefill > 0 },
    maxNumBatchedTokens: grid.maxNumBatchedTokens,
  };
}

/**
 * The lengths, but in place of those that take several steps the multiples of a step up to the longest: what one adds to the one before it is a step.
 */
export function withChunks({ promptLengths, maxNumBatchedTokens: budget }: Grid): number[] {
  const lengths = promptLengths.filter((tokens) => tokens > SHORTEST && tokens <= budget);
  const longest = Math.max(...promptLengths);
  if (longest <= budget) return lengths;
  const chunks = Math.min(MOST_CHUNKS, Math.floor(longest / budget));
  const multiples = Array.from({ length: chunks }, (_none, i) => (i + 1) * budget);
  return [...new Set([...lengths, ...multiples])];
}

/**
 * Prompts of each length, the shortest of all before them, and the two longest once more with three quarters of them in a cache: time that grows with
 * attention and time that grows with tokens cannot be told apart by whole prompts.
 */
function cellsOfPrompts(lengths: readonly number[], grid: Grid): PromptCell[] {
  const whole = [SHORTEST, ...lengths].map((tokens) => ({ tokens, prefix: 0 }));
  const { maxNumBatchedTokens: budget } = grid;
  const isWorthIt = (tokens: number): boolean => tokens >= WORTH_A_PREFIX && tokens <= budget;
  const long = lengths.filter(isWorthIt).slice(-2);
  return [...whole, ...long.map((tokens) => ({ tokens, prefix: Math.floor(tokens * 0.75) }))];
}

function cellsOf({ batches, contexts }: Grid, maxModelLen: number): DecodeCell[] {
  return contexts
    .filter((context) => context < maxModelLen)
    .flatMap((context) => batches.map((batch) => ({ batch, context })));
}
