import { Failure } from '@baton/kernel';
import type { EngineCounts } from './topology-of';
import { type DecodeCell, DecodeRounds } from './measure-decode';
import { onePrompt, type PromptCell, PromptRounds } from './measure-prompts';
import type { Measurements } from './decompose';
import type { Measuring } from './measuring';

/** The points to measure. */
export interface Grid {
  readonly promptLengths: readonly number[];
  readonly batches: readonly number[];
  readonly contexts: readonly number[];
  /** Token budget of a step. Longer prompts take several steps. */
  readonly maxNumBatchedTokens: number;
}

const WARM_UPS = 3;
const SHORTEST = 1;
/** Shortest prompt with a measurement of its attention to a cached prefix, tokens. */
const WORTH_A_PREFIX = 128;
/** Maximum number of steps of the longest prompt. */
const MOST_CHUNKS = 8;

/**
 * Measures one stage at a time: single prompts, then batches of streams. Cells take turns in every
 * round, so that a slow minute of the machine affects all of them.
 */
export class GridRounds {
  private readonly prompts: PromptRounds;
  private readonly decode: DecodeRounds;
  private readonly lengths: readonly number[];

  constructor(
    private readonly measuring: Measuring,
    private readonly grid: Grid,
    private readonly engines: EngineCounts,
  ) {
    const { target, maxModelLen } = measuring;
    this.lengths = withChunks(grid).filter((tokens) => tokens < maxModelLen);
    this.prompts = new PromptRounds(target, cellsOfPrompts(this.lengths, grid));
    this.decode = new DecodeRounds({
      target,
      cells: cellsOf(grid, maxModelLen),
      longest: maxModelLen,
      engines: engines.decode + engines.aggregated,
    });
  }

  /** Reports the cells that are left out, and sends a few prompts to warm up. */
  async open(): Promise<void> {
    const { measuring, lengths, grid } = this;
    const left = grid.promptLengths.filter((tokens) => tokens >= measuring.maxModelLen);
    if (left.length > 0)
      measuring.say(`prompts of ${left.join(', ')} tokens are left out: too long`);
    const first = { tokens: lengths[0] ?? SHORTEST, prefix: 0 };
    const prompts = new PromptRounds(measuring.target, [first]);
    for (let round = 0; round < WARM_UPS; round++) await prompts.round();
  }

  /** Measures every cell once more. */
  async round(): Promise<void> {
    await this.prompts.round();
    await this.decode.round();
  }

  /** The measurements of the rounds so far. @throws Failure when they are too few */
  measured(): Measurements {
    const [shortest, ...others] = this.prompts.points();
    // Without a cache, or without a count of its hits, a prompt with a prefix is another one of its
    // length.
    const prompts = others.filter(({ cached }, i) => i < this.lengths.length || cached > 0);
    const decode = this.decode.points();
    if (prompts.length === 0 || decode.length === 0) {
      throw new Failure('Too few points of the grid were measured. Use shorter prompts.');
    }
    return {
      kvBytesPerToken: undefined,
      shortest: shortest!,
      prompts,
      decode,
      isHandedOver: this.engines.prefill > 0,
      maxNumBatchedTokens: this.grid.maxNumBatchedTokens,
    };
  }

  /** All measurements, reported to the user. */
  async finishRounds(): Promise<Measurements> {
    const { lengths, measuring } = this;
    const longest = Math.max(...lengths);
    const bytes = await measuring.target.measureKvBytes(onePrompt(longest));
    const kvBytesPerToken = bytes === undefined ? undefined : Math.round(bytes / longest);
    const measured = { ...this.measured(), kvBytesPerToken };
    this.showMeasured(measured);
    return measured;
  }

  private showMeasured({ shortest, prompts, decode }: Measurements): void {
    const { say } = this.measuring;
    for (const { tokens, cached, ttftMs } of [shortest, ...prompts]) {
      const held = cached > 0 ? `, ${cached} of them cached` : '';
      say(`prompt of ${tokens} tokens${held}: first token after ${ttftMs.toFixed(1)} ms`);
    }
    for (const { sequences, context, stepMs } of decode) {
      say(`decode of ${sequences} × ${Math.round(context)} tokens: ${stepMs.toFixed(2)} ms a step`);
    }
    for (const sentence of this.decode.leftOut()) say(sentence);
  }
}

/**
 * The lengths, where those of several steps are replaced by the multiples of a step up to the
 * longest: the difference of two neighbours is a step.
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
 * Prompts of each length, the shortest of all before them, and the two longest again with three
 * quarters of them cached. Whole prompts alone cannot separate the time of attention from the time
 * per token.
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
