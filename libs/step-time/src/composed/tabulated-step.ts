import { SPREAD } from './attention-part';
import type { StepKind, TokenEnds } from './measured-ends';
import type { StepComposer } from './step-composer';
import { totalUs } from './step-operator';

/**
 * The steps of one deployment as plain numbers, which a composed model reads and which are stored
 * between runs. Times in µs.
 */
export interface TabulatedStep {
  /** Everything but attention and the head, by tokens: of steps that only decode, and of others. */
  readonly linear: { readonly decode: Line; readonly mixed: Line };
  /**
   * The part of the mixed line that depends on the tokens of all data-parallel ranks, by tokens of
   * each; unset when ranks share nothing.
   */
  readonly ofAllRanks?: Line;
  /**
   * What the mixed line takes longer on a GPU that has long been at its power limit, by tokens;
   * unset when that was not measured.
   */
  readonly atPowerLimit?: Line;
  /** The output head and the sampler by rows. */
  readonly head: Line;
  /** Decode attention: `us[i][j]` of sequences[i] with a mean context of contexts[j] tokens. */
  readonly decode: {
    readonly sequences: readonly number[];
    readonly contexts: readonly number[];
    readonly us: readonly (readonly number[])[];
  };
  /**
   * Prefill attention: `us[i][j]` of prompts[i] of lengths[j] tokens, none cached.
   */
  readonly prefill: {
    readonly prompts: readonly number[];
    readonly lengths: readonly number[];
    readonly us: readonly (readonly number[])[];
  };
  readonly measured: MeasuredLimits;
}

export interface Line {
  readonly at: readonly number[];
  readonly us: readonly number[];
}

/** Limits of the measured operators. */
export interface MeasuredLimits {
  readonly tokens: Readonly<Record<StepKind, TokenEnds>>;
  /** Data-parallel ranks whose tokens the experts get. */
  readonly ranks: number;
  /** Longest context, by the grid's numbers of sequences; 0: none. */
  readonly decodeContexts: readonly number[];
  /** Longest prompt alone, with the tokens before it. */
  readonly promptLength: number;
}

export interface TabulateLimits {
  /** Most tokens of one sequence. */
  readonly contextTokens: number;
}

const STEP_TOKENS_MAX = 65_536;
const SEQUENCES_MAX = 2_048;
const PROMPTS_MAX = 256;
const SHORTEST = 16;
/** Largest batch that vLLM captures in a CUDA graph (`max_cudagraph_capture_size`). */
const CAPTURED_MAX = 512;
/** Lines are cut in two until they lie within this part of the composed time. */
const TOLERANCE = 0.003;

/** Tabulates a deployment so densely that straight lines between hold it within 1 %. */
export function tabulate(composer: StepComposer, limits: TabulateLimits): TabulatedStep {
  const lengths = knots(SHORTEST, limits.contextTokens, 6);
  const contexts = contextKnots(limits.contextTokens);
  const sequences = knots(1, SEQUENCES_MAX, 2);
  const prompts = knots(1, PROMPTS_MAX, 1);
  const from = (max: number) => starts(composer.measuredTokens, max);
  const linear = (isDecodeOnly: boolean): Line =>
    line(from(STEP_TOKENS_MAX), (tokens) =>
      totalUs([
        ...composer.linear(tokens, isDecodeOnly),
        ...[composer.around(tokens), composer.choice(tokens)],
      ]),
    );
  const { ofAllRanks, atPowerLimit: limited } = composer;
  const mixed = linear(false);
  return {
    linear: { decode: composer.isAlikeWithPrompts ? mixed : linear(true), mixed },
    ...(ofAllRanks && { ofAllRanks: line(from(STEP_TOKENS_MAX), ofAllRanks) }),
    ...(limited && { atPowerLimit: differences(composer, limited, mixed.at) }),
    head: line(from(SEQUENCES_MAX), (rows) =>
      totalUs([composer.outputHead(rows), composer.sampler(rows)]),
    ),
    decode: {
      sequences,
      contexts,
      us: sequences.map((count) =>
        contexts.map((context) =>
          rounded(composer.attention.decodeUs({ sequences: count, context })),
        ),
      ),
    },
    prefill: {
      prompts,
      lengths,
      us: prompts.map((count) =>
        lengths.map((length) =>
          rounded(composer.attention.prefillUs({ prompts: count, length, cached: 0 })),
        ),
      ),
    },
    measured: {
      tokens: composer.measuredEnds(STEP_TOKENS_MAX),
      ranks: composer.ranks,
      decodeContexts: sequences.map((count) =>
        largest(contexts, (context) =>
          composer.attention.isMeasuredDecode({ sequences: count, context }),
        ),
      ),
      promptLength: largest(lengths, (length) =>
        composer.attention.isMeasuredPrefill({ prompts: 1, length, cached: 0 }),
      ),
    },
  };
}

/** Added time of steps with this many tokens that do not only decode, composed by `limited`. */
function differences(composer: StepComposer, limited: StepComposer, at: readonly number[]): Line {
  const usAt = (by: StepComposer, tokens: number) => totalUs(by.linear(tokens, false));
  return {
    at,
    us: at.map((tokens) => rounded(usAt(limited, tokens) - usAt(composer, tokens))),
  };
}

/** Whole numbers from `low` to `high`, both included, so many per octave. */
function knots(low: number, high: number, perOctave: number): number[] {
  const found = [low];
  for (let octave = low; octave < high; octave *= 2) {
    for (let part = 1; part <= perOctave; part++) {
      const next = Math.min(high, Math.round(octave * (1 + part / perOctave)));
      if (next > found.at(-1)!) found.push(next);
    }
  }
  return found;
}

/**
 * Contexts at which decode attention bends: it was measured at powers of two, is straight between,
 * and contexts of a batch are spread by a tenth, which rounds the bends.
 */
function contextKnots(high: number): number[] {
  const parts = [1, 1 / (1 - SPREAD), 2 / (1 + SPREAD)];
  const found: number[] = [];
  for (let octave = SHORTEST; octave < high; octave *= 2) {
    found.push(...parts.map((part) => Math.round(octave * part)));
  }
  return [...found.filter((context) => context < high), high];
}

function largest(rising: readonly number[], isMeasured: (value: number) => boolean): number {
  return rising.findLast(isMeasured) ?? 0;
}

/** Measured positions, and powers of two beyond them. */
function starts(measured: readonly number[], max: number): number[] {
  const all = new Set([...knots(1, max, 1), ...measured.filter((x) => x <= max)]);
  return [...all].sort((a, b) => a - b);
}

/** A line through the given positions, with points added where a straight line would deviate. */
function line(at: readonly number[], usAt: (x: number) => number): Line {
  const known = new Map(at.map((x) => [x, usAt(x)]));
  const refine = (low: number, high: number): void => {
    const middle = (low + high) >> 1;
    if (middle === low) return;
    const us = usAt(middle);
    const [a, b] = [known.get(low)!, known.get(high)!];
    const straight = a + ((b - a) * (middle - low)) / (high - low);
    const isWide = high - low > low / 2;
    if (!isWide && Math.abs(straight - us) <= TOLERANCE * us) return;
    known.set(middle, us);
    refine(low, middle);
    refine(middle, high);
  };
  for (let i = 1; i < at.length; i++) refine(at[i - 1]!, at[i]!);
  const sorted = [...known].sort(([a], [b]) => a - b);
  return { at: sorted.map(([x]) => x), us: padded(sorted) };
}

/**
 * A size that is slower than a larger one is padded to it, as vLLM pads batches to the sizes of its
 * CUDA graphs; beyond those the points stay.
 */
function padded(points: readonly (readonly [size: number, us: number])[]): number[] {
  let lowest = Infinity;
  const us = points.map(([, own]) => rounded(own));
  for (let i = points.length - 1; i >= 0; i--) {
    if (points[i]![0] > CAPTURED_MAX) continue;
    lowest = Math.min(lowest, us[i]!);
    us[i] = lowest;
  }
  return us;
}

/** Rounds to a nanosecond, far below the resolution of measurements. */
function rounded(us: number): number {
  return Math.round(us * 1_000) / 1_000;
}
