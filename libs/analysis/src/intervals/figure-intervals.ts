import { usToMs, usToSeconds } from '@baton/kernel';
import type { Distribution } from '../distribution';
import { latenciesInOrder } from '../latencies';
import { type OfPhases, phasesOf, REQUEST_PHASES, readPhases } from '../phases';
import { NEVER } from '../instants';
import { outcomeCode, type RequestLog } from '../request-log';
import type { RunRecord } from '../run-record';
import { attainmentOf, type Objective, OBJECTIVES, type Slo } from '../slo';
import type { Summary } from '../summary';
import {
  type ErrorFactors,
  type Interval,
  INTERVAL_LEVEL,
  NO_ERROR,
  roundedInterval,
  scaled,
  widened,
  widenedShare,
} from './interval';
import {
  meanInterval,
  sampledGaps,
  type Statistic,
  type StatisticIntervals,
} from './sampled-latency';
import type { MeasuredLatencies } from './measured-latencies';
import {
  modelledRate,
  sampledAttainment,
  sampledHitRate,
  sampledRate,
  WEIGHTS,
} from './sampled-rates';

/** Known errors of step times, by the figures that they affect. */
export interface ModelErrors {
  /** Error of the time to wait for and compute a prompt. */
  readonly ttft: ErrorFactors;
  /** Error of the time to generate a token. */
  readonly tpot: ErrorFactors;
  /** Error of the time of a whole request, and so of the rates of a cluster. */
  readonly e2el: ErrorFactors;
  /**
   * Two clusters of one deployment share most of these errors. A ratio of their rates above this
   * factor (>= 1) is real in 80 % of cases.
   */
  readonly apart: number;
  /** The source of the three factors, in a sentence. */
  readonly source: string;
}

export const EXACT_MODEL: ModelErrors = {
  ttft: NO_ERROR,
  tpot: NO_ERROR,
  e2el: NO_ERROR,
  apart: 1,
  source: 'step times are taken as given',
};

export interface IntervalOptions {
  readonly slo?: Slo;
  /** `thinned` of the run's log. */
  readonly part: RequestLog;
  readonly latencies: MeasuredLatencies;
  readonly errors: ModelErrors;
  /** True when requests wait for answers to others before they are sent. */
  readonly isClosedLoop: boolean;
}

type Rounded = Interval | null;
export type DistributionIntervals = Readonly<Record<Statistic, Rounded>>;

/**
 * The figures of a summary under the same names, each as [low, high]. docs/error-bars.md explains
 * the method. Null where the figure is null.
 */
export interface FigureIntervals {
  readonly level: number;
  /** Factors of the step times' error, with their source. */
  readonly model: ModelErrors;
  readonly ttft_ms: DistributionIntervals;
  readonly tpot_ms: DistributionIntervals;
  readonly itl_ms: DistributionIntervals;
  readonly e2el_ms: DistributionIntervals;
  readonly slo_attainment: Rounded;
  readonly slo_attainment_by_objective: Readonly<Partial<Record<Objective, Rounded>>>;
  readonly goodput_rps: Rounded;
  readonly goodput_rps_per_gpu: Rounded;
  readonly prefix_hit_rate: Rounded;
  readonly request_rps: Rounded;
  readonly output_tokens_per_second: Rounded;
  readonly total_tokens_per_second: Rounded;
  readonly phase_means_ms: OfPhases<Rounded>;
}

type Figures = Omit<Summary, 'intervals' | 'wall_seconds' | 'requests_per_wall_second'>;

const DECIMALS = 6;
const MS_DECIMALS = 3;

/**
 * The intervals around each figure. It takes a few passes over the log and uses no random numbers.
 */
export function intervalsOf(
  whole: RunRecord,
  figures: Figures,
  options: IntervalOptions,
): FigureIntervals {
  const run = { ...whole, log: options.part };
  const { errors } = options;
  const { attained, byObjective } = attainmentIntervals(run, figures, options);
  const goodput = goodputInterval(run, figures, { ...options, attained });
  return {
    level: INTERVAL_LEVEL,
    model: errors,
    ...latencyIntervals(run, figures, options),
    slo_attainment: rounded(attained),
    slo_attainment_by_objective: byObjective,
    goodput_rps: rounded(goodput),
    goodput_rps_per_gpu: rounded(goodput && scaled(goodput, 1 / figures.gpus)),
    prefix_hit_rate: rounded(hitRateInterval(run, figures)),
    ...rateIntervals(run, figures, options),
    phase_means_ms: phaseIntervals(run, figures, errors),
  };
}

function rounded(interval: Interval | undefined, decimals = DECIMALS): Rounded {
  return interval === undefined ? null : roundedInterval(interval, decimals);
}

function latencyIntervals(
  run: RunRecord,
  figures: Figures,
  { latencies, errors }: IntervalOptions,
) {
  const itl = sampledGaps(run.itl, latenciesInOrder(run.log));
  return {
    ttft_ms: distributionIntervals(figures.ttft_ms, latencies.ttftUs.sampledUs, errors.ttft),
    tpot_ms: distributionIntervals(figures.tpot_ms, latencies.tpotUs.sampledUs, errors.tpot),
    itl_ms: distributionIntervals(figures.itl_ms, itl, errors.tpot),
    e2el_ms: distributionIntervals(figures.e2el_ms, latencies.e2elUs.sampledUs, errors.e2el),
  };
}

const STATISTICS = ['mean', 'p50', 'p90', 'p95', 'p99', 'max'] as const;

function distributionIntervals(
  figures: Distribution,
  sampledUs: StatisticIntervals | undefined,
  error: ErrorFactors,
): DistributionIntervals {
  const entries = STATISTICS.map((name) => {
    return [name, msInterval(figures[name], sampledUs?.[name], error)] as const;
  });
  return Object.fromEntries(entries) as DistributionIntervals;
}

function msInterval(
  ms: number | null,
  sampledUs: Interval | undefined,
  error: ErrorFactors,
): Rounded {
  if (ms === null || sampledUs === undefined) return null;
  return rounded(widened(ms, scaled(sampledUs, usToMs(1)), error), MS_DECIMALS);
}

/**
 * The interval of the share of good requests, from chance and from latencies that are all shorter
 * or all longer.
 */
function attainmentIntervals(
  { log }: RunRecord,
  { slo_attainment: all, slo_attainment_by_objective: each }: Figures,
  { slo, errors }: IntervalOptions,
) {
  if (slo === undefined || all === null) return { attained: undefined, byObjective: {} };
  const sampled = (bounds: Slo): Interval => sampledAttainment(log, bounds);
  const slow = attainmentOf(log, relaxedSlo(slo, errors, 'high'));
  const fast = attainmentOf(log, relaxedSlo(slo, errors, 'low'));
  const among = ([low, high]: [number, number]): Interval => [low / log.count, high / log.count];
  const byObjective = OBJECTIVES.filter((name) => slo[name] !== undefined).map((name) => {
    const modelled = among([slow.met[name] ?? 0, fast.met[name] ?? 0]);
    const interval = widenedShare(each[name] ?? 0, sampled({ [name]: slo[name] }), modelled);
    return [name, rounded(interval)] as const;
  });
  return {
    attained: widenedShare(all, sampled(slo), among([slow.good, fast.good])),
    byObjective: Object.fromEntries(byObjective) as Partial<Record<Objective, Rounded>>,
  };
}

/**
 * Objectives that simulated latencies meet exactly when latencies times the factor meet the SLO.
 */
function relaxedSlo(slo: Slo, errors: ModelErrors, end: keyof ErrorFactors): Slo {
  const factors = { ...errors, itl: errors.tpot };
  const bounds = OBJECTIVES.flatMap((name) => {
    const boundUs = slo[name];
    return boundUs === undefined ? [] : [[name, boundUs / factors[name][end]] as const];
  });
  return Object.fromEntries(bounds);
}

function goodputInterval(
  run: RunRecord,
  { requests, goodput_rps: goodput, slo_attainment: share }: Figures,
  options: IntervalOptions & { readonly attained: Interval | undefined },
): Interval | undefined {
  const { attained, errors, isClosedLoop } = options;
  if (goodput === null || share === null || attained === undefined) return undefined;
  const perShare = requests / usToSeconds(run.endUs);
  const sampled = widened(goodput, scaled(attained, perShare), sampledRate(run, WEIGHTS.requests));
  return widened(goodput, sampled, modelledRate(run, errors.e2el, isClosedLoop));
}

function rateIntervals(
  run: RunRecord,
  figures: Figures,
  { errors, isClosedLoop }: IntervalOptions,
) {
  const modelled = modelledRate(run, errors.e2el, isClosedLoop);
  const around = (figure: number | null, weight: keyof typeof WEIGHTS): Rounded => {
    if (figure === null) return null;
    const { low, high } = sampledRate(run, WEIGHTS[weight]);
    return rounded(widened(figure, [figure * low, figure * high], modelled));
  };
  return {
    request_rps: around(figures.request_rps, 'requests'),
    output_tokens_per_second: around(figures.output_tokens_per_second, 'outputTokens'),
    total_tokens_per_second: around(figures.total_tokens_per_second, 'totalTokens'),
  };
}

function hitRateInterval({ log }: RunRecord, figures: Figures): Interval | undefined {
  const sampled = sampledHitRate(log);
  const share = figures.prefix_hit_rate;
  return sampled && share !== null ? widenedShare(share, sampled, [share, share]) : undefined;
}

const COMPLETED = outcomeCode('completed');
/**
 * The error of each phase. Phases between prefill and decode have both. The errors of TTFT were
 * learned with the front end included.
 */
const ERROR_OF = {
  ...({ front_end: 'ttft', dispatch: 'ttft' } as const),
  ...({ queue: 'ttft', prefill: 'ttft', hold: 'e2el' } as const),
  ...({ transfer: 'e2el', decode_wait: 'e2el', decode: 'tpot' } as const),
};

function phaseIntervals({ log }: RunRecord, figures: Figures, errors: ModelErrors) {
  const spans = new Float64Array(REQUEST_PHASES.length);
  const columns = REQUEST_PHASES.map(() => new Float64Array(log.count));
  const counts = REQUEST_PHASES.map(() => 0);
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== COMPLETED) continue;
    readPhases(log, row, spans);
    for (let phase = 0; phase < spans.length; phase++) {
      if (spans[phase] !== NEVER) columns[phase]![counts[phase]!++] = spans[phase]!;
    }
  }
  const entries = phasesOf(log).map((phase) => {
    const i = REQUEST_PHASES.indexOf(phase);
    const values = columns[i]!.subarray(0, counts[i]);
    const sampled = values.length === 0 ? undefined : meanInterval(values);
    const meanMs = figures.phase_means_ms[phase] ?? null;
    return [phase, msInterval(meanMs, sampled, errors[ERROR_OF[phase]])];
  });
  return Object.fromEntries(entries) as OfPhases<Rounded>;
}
