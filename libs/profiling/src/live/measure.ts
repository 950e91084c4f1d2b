import { Failure } from '@baton/kernel';
import type { EngineCounts } from './topology-of';
import { type DecodeCell, DecodeRounds } from './measure-decode';
import { onePrompt, type PromptCell, PromptRounds } from './measure-prompts';
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

/**
 * Measures one stage at a time: prompts one by one, then batches of streams. Cells take turns,
 * round by round, so that a slow minute of the machine does not fall on one of them.
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
      ...{ target, cells: cellsOf(grid, maxModelLen), longest: maxModelLen },
      engines: engines.decode + engines.aggregated,
    });
  }

  /** Says what will not be measured, and asks a few prompts that do not count. */
  async open(): Promise<void> {
    const { measuring, lengths, grid } = this;
    const left = grid.promptLengths.filter((tokens) => tokens >= measuring.maxModelLen);
    if (left.length > 0)
      measuring.say(`prompts of ${left.join(', ')} tokens are left out: too long`);
    const first = { tokens: lengths[0] ?? SHORTEST, prefix: 0 };
    const prompts = new PromptRounds(measuring.target, [first]);
    for (let round = 0; round < WARM_UPS; round++) await prompts.round();
  }

  /** Every cell once more. */
  async round(): Promise<void> {
    await this.prompts.round();
    await this.decode.round();
  }

  /** What is known after the rounds so far. @throws Failure when it is too little */
  measured(): Measurements {
    const [shortest, ...others] = this.prompts.points();
    // Without a cache, or a word of it, a prompt with a prefix is one more of its length.
    const prompts = others.filter(({ cached }, i) => i < this.lengths.length || cached > 0);
    const decode = this.decode.points();
    if (prompts.length === 0 || decode.length === 0) {
      throw new Failure('Too little of the grid could be measured: give shorter prompts.');
    }
    return {
      kvBytesPerToken: undefined,
      ...{ shortest: shortest!, prompts, decode, isHandedOver: this.engines.prefill > 0 },
      maxNumBatchedTokens: this.grid.maxNumBatchedTokens,
    };
  }

  /** All of it, told to the user. */
  async finish(): Promise<Measurements> {
    const { lengths, measuring } = this;
    const longest = Math.max(...lengths);
    const bytes = await measuring.target.kvBytesOf(onePrompt(longest));
    const kvBytesPerToken = bytes === undefined ? undefined : Math.round(bytes / longest);
    const measured = { ...this.measured(), kvBytesPerToken };
    this.tell(measured);
    return measured;
  }

  private tell({ shortest, prompts, decode }: Measurements): void {
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
 * The lengths, but in place of those that take several steps the multiples of a step up to the
 * longest: what one adds to the one before it is a step.
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
 * Prompts of each length, the shortest of all before them, and the two longest once more with three
 * quarters of them in a cache: time that grows with attention and time that grows with tokens
 * cannot be told apart by whole prompts.
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
