import { UsageError } from '@baton/config';
import { secondsToUs } from '@baton/kernel';
import {
  drawArrivals,
  generateMultiTurn,
  generateSingleTurn,
  type LengthSpec,
  type SharedPrefixes,
  type Workload,
  workloadStream,
} from '@baton/workload';
import { arrivalsOfDataset } from './arrival-flags';
import type { FlagValues } from './flag-values';
import type { SourceKind } from './workload-flags';

const PROMPTS = 1000;
const INPUT_LENGTH = 1024;
const OUTPUT_LENGTH = 128;
const PREFIXES = 10;
const PREFIX_LENGTH = 256;
const SUFFIX_LENGTH = 256;
const TURNS = 4;
const THINK_TIME_S = 10;
const MOST_PROMPTS = 100_000_000;

export interface DatasetContext {
  readonly seed: number;
  /** Tokens per KV block. */
  readonly blockSize: number;
  /** Upper limit for a conversation, tokens. */
  readonly maxModelLen: number;
  /** Upper limit for the number of requests. */
  readonly most?: number;
}

/** Kinds of generated requests. */
export type DatasetKind = Exclude<SourceKind, 'trace' | 'sharegpt'>;

/**
 * Generates the requests of a dataset. Defaults are those of `vllm bench serve` where it has them.
 */
export function generateDataset(
  kind: DatasetKind,
  flags: FlagValues,
  context: DatasetContext,
): Workload {
  const { arrivalUs, count } = datasetArrivals(flags, context.seed, context.most);
  const { seed, blockSize: blockTokens } = context;
  const output = lengths(flags, outputLength(flags));
  const base = { arrivalUs, output, blockTokens, seed };
  switch (kind) {
    case 'random':
      return singleTurns(arrivalUs, flags, context);
    case 'shared-prefix':
      return generateSingleTurn({ ...base, ...sharedPrefixes(flags) });
    case 'multi-turn':
      return generateMultiTurn({
        ...base,
        count,
        turns: turnsOf(flags),
        message: lengths(flags, flags.count('randomInputLen') ?? INPUT_LENGTH),
        systemTokens: flags.count('randomPrefixLen', 0) ?? 0,
        thinkTimeMeanUs: secondsToUs(flags.seconds('multiTurnThinkTime') ?? THINK_TIME_S),
        maxContextTokens: context.maxModelLen,
      });
  }
}

/** The requests of an access log, whose lengths are those of `--dataset random`. */
export function withAssumedLengths(
  { arrivalUs }: Workload,
  flags: FlagValues,
  context: Omit<DatasetContext, 'maxModelLen'>,
): Workload {
  return singleTurns(arrivalUs, flags, context);
}

/** Lengths that a log without them gets, in words. */
export function assumedLengths(flags: FlagValues): string {
  const input = flags.count('randomInputLen') ?? INPUT_LENGTH;
  const output = flags.count('randomOutputLen') ?? OUTPUT_LENGTH;
  return `prompts of ${input} and outputs of ${output} tokens on average`;
}

function singleTurns(
  arrivalUs: Float64Array,
  flags: FlagValues,
  { seed, blockSize: blockTokens }: Omit<DatasetContext, 'maxModelLen'>,
): Workload {
  const prompt = lengths(flags, flags.count('randomInputLen') ?? INPUT_LENGTH);
  const output = lengths(flags, outputLength(flags));
  const prefixTokens = flags.count('randomPrefixLen', 0) ?? 0;
  const shared: SharedPrefixes | undefined =
    prefixTokens === 0 ? undefined : { prefixes: 1, popularity: { kind: 'uniform' }, prefixTokens };
  return generateSingleTurn({ arrivalUs, prompt, output, blockTokens, seed, shared });
}

/**
 * The number of requests (at most `most`) and their instants. For conversations: the instants at
 * which they begin, one per request, which is always enough.
 */
export function datasetArrivals(
  flags: FlagValues,
  seed: number,
  most = Infinity,
): { readonly count: number; readonly arrivalUs: Float64Array } {
  const spec = arrivalsOfDataset(flags);
  const durationS = flags.seconds('duration');
  // The rate is scaled afterwards, which shortens the drawn time.
  const drawnS =
    durationS === undefined ? undefined : durationS * (flags.positive('rateScale') ?? 1);
  const ratePerSecond = 'ratePerSecond' in spec ? spec.ratePerSecond : undefined;
  const byDuration = drawnS !== undefined && ratePerSecond !== undefined;
  const requested = flags.count('numPrompts', 0, MOST_PROMPTS) ?? (byDuration ? Infinity : PROMPTS);
  const count = Math.min(requested, most);
  if (byDuration && Math.min(count, drawnS * ratePerSecond) > MOST_PROMPTS) {
    throw new UsageError(`--duration and --request-rate give more than ${MOST_PROMPTS} requests.`);
  }
  const durationUs = drawnS === undefined ? undefined : secondsToUs(drawnS);
  const limits = { count, durationUs, exactRate: durationUs === undefined };
  return { count, arrivalUs: drawArrivals(spec, limits, workloadStream(seed, 'arrivals')) };
}

/**
 * Lengths around a mean: exact, uniform by --random-range-ratio, or lognormal by --length-sigma.
 */
function lengths(flags: FlagValues, mean: number): LengthSpec {
  const sigma = flags.number('lengthSigma', { from: 0, to: 10, expected: 'a number from 0 to 10' });
  const below1 = 1 - Number.EPSILON;
  const ratio = flags.number('randomRangeRatio', {
    from: 0,
    to: below1,
    expected: 'a number from 0 to below 1',
  });
  if (sigma !== undefined) {
    if (ratio === undefined) return { kind: 'lognormal', mean, sigma };
    throw new UsageError('--random-range-ratio and --length-sigma exclude each other.');
  }
  if (ratio === undefined || ratio === 0) return { kind: 'constant', tokens: mean };
  const min = Math.max(1, Math.floor(mean * (1 - ratio)));
  return { kind: 'uniform', min, max: Math.ceil(mean * (1 + ratio)) };
}

function outputLength(flags: FlagValues): number {
  return either(flags, 'prefixRepetitionOutputLen', 'randomOutputLen') ?? OUTPUT_LENGTH;
}

function sharedPrefixes(flags: FlagValues): {
  readonly prompt: LengthSpec;
  readonly shared: SharedPrefixes;
} {
  const length = either(flags, 'prefixRepetitionSuffixLen', 'randomInputLen');
  const exponent = flags.number('prefixZipf', {
    from: 0,
    to: 100,
    expected: 'a number from 0 to 100',
  });
  const rest = {
    prefixes: flags.count('prefixRepetitionNumPrefixes') ?? PREFIXES,
    popularity:
      exponent === undefined ? ({ kind: 'uniform' } as const) : { kind: 'zipf' as const, exponent },
  };
  const share = flags.number('prefixShare', { from: 0, to: 1, expected: 'a number from 0 to 1' });
  if (share === undefined) {
    const prefixTokens = flags.count('prefixRepetitionPrefixLen', 0) ?? PREFIX_LENGTH;
    return { prompt: lengths(flags, length ?? SUFFIX_LENGTH), shared: { ...rest, prefixTokens } };
  }
  if (flags.has('prefixRepetitionPrefixLen')) {
    throw new UsageError('--prefix-share and --prefix-repetition-prefix-len exclude each other.');
  }
  return { prompt: lengths(flags, length ?? INPUT_LENGTH), shared: { ...rest, share } };
}

function either(
  flags: FlagValues,
  one: 'prefixRepetitionOutputLen' | 'prefixRepetitionSuffixLen',
  other: 'randomOutputLen' | 'randomInputLen',
): number | undefined {
  if (flags.has(one) && flags.has(other)) {
    throw new UsageError('--random-… and --prefix-repetition-… set the same length. Remove one.');
  }
  return flags.count(one) ?? flags.count(other);
}

/** `4`, or `2-6` for each number of turns from 2 to 6 with equal probability. */
function turnsOf(flags: FlagValues): LengthSpec {
  const given = flags.text('multiTurnTurns');
  if (given === undefined) return { kind: 'constant', tokens: TURNS };
  const [, from = '', to = from] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(given) ?? [];
  const [min, max] = [Number(from), Number(to)];
  if (!(min >= 1 && max >= min)) {
    throw flags.wrongValue('multiTurnTurns', 'a whole number from 1, or a range such as 2-6');
  }
  return { kind: 'uniform', min, max };
}
