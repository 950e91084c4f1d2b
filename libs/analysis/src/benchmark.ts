import { mean, quantile } from '@baton/kernel';
import { latenciesOf } from './latencies';
import { outcomeCode, type RequestLog } from './request-log';
import { roundTo } from './round-to';
import type { RunRecord } from './run-record';
import { attainmentOf, type Objective, OBJECTIVES, type Slo } from './slo';

/** The number of failures, and the server's first error message. */
export interface FailureCount {
  readonly error: string;
  readonly count: number;
  readonly example: string;
}

/** ms. */
export interface Delay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Figures that lateness can make wrong, each with its percentiles. */
export type LateFigureName = Objective | 'throughput';

/** The error of a load generator itself. */
export interface Lateness {
  /**
   * Instant of sending minus due instant, without requests that are due at the start of the run or
   * wait for a slot.
   */
  readonly schedule_lag_ms: Delay;
  /** Delay of a timer of the generator: the upper limit for the delay of the stamp of an event. */
  readonly event_loop_delay_ms: Delay;
  /** CPU time of the generator / duration, both in the same unit. */
  readonly cpu_share: number;
  /** The reason why some figures are not reliable. Null when all are. */
  readonly void: string | null;
  /** Those figures; empty when all are reliable. */
  readonly void_figures: readonly LateFigureName[];
}

/**
 * The record of a load generator: a run without engines, and the facts that a log does not hold.
 */
export interface BenchmarkRecord extends RunRecord {
  readonly lateness: Lateness;
  /** Sorted by count, the most frequent first. */
  readonly failures: readonly FailureCount[];
  /**
   * The number of completed requests by the source of their output tokens: the server's usage, or
   * one token per event.
   */
  readonly countedBy: { readonly usage: number; readonly events: number };
  /** Prompt tokens by the server's usage, and the number of completed requests with such usage. */
  readonly promptUsage: { readonly tokens: number; readonly requests: number };
  /** Sum of the squared gaps of `itl`, µs². */
  readonly itlSquareSum: number;
  /** The largest rate of output tokens of completed requests, never below their mean rate. */
  readonly peakOutputTokensPerSecond: number;
}

export interface BenchmarkOptions {
  /** Latencies whose mean, median, standard deviation and percentiles are computed. */
  readonly metrics: readonly Objective[];
  /** 0 to 100. */
  readonly percentiles: readonly number[];
  /** Undefined: no goodput. */
  readonly slo: Slo | undefined;
}

/**
 * The figures by the names of `vllm bench serve`: `mean_ttft_ms`, `p99_itl_ms` and so on, beside
 * the listed ones.
 */
export interface BenchmarkFigures {
  readonly duration: number;
  readonly completed: number;
  readonly failed: number;
  readonly total_input_tokens: number;
  readonly total_output_tokens: number;
  readonly request_throughput: number;
  readonly request_goodput: number | null;
  readonly output_throughput: number;
  readonly total_token_throughput: number;
  readonly max_output_tokens_per_s: number;
  readonly max_concurrent_requests: number;
  readonly rtfx: number;
  readonly [latency: `${string}_ms`]: number;
}

const US_PER_SECOND = 1_000_000;
const US_PER_MS = 1_000;
const COMPLETED = outcomeCode('completed');

/**
 * The figures of a load run as vLLM's benchmark computes them (vllm/benchmarks/serve.py), over
 * completed requests. Goodput counts requests that meet all objectives, per second of the run. A
 * figure without measurements is 0, as in vLLM. Percentiles of ITL are at most 0.4 % off above 256
 * µs.
 */
export function benchmarkFigures(
  record: BenchmarkRecord,
  { metrics, percentiles, slo }: BenchmarkOptions,
): BenchmarkFigures {
  const seconds = record.endUs / US_PER_SECOND;
  const perSecond = (count: number): number => (seconds > 0 ? count / seconds : 0);
  const { completed, failed, inputTokens, outputTokens } = totalsOf(record.log);
  const wanted = OBJECTIVES.filter((name) => metrics.includes(name));
  const latencies = statisticsOf(record);
  return {
    duration: seconds,
    completed,
    failed,
    total_input_tokens: inputTokens,
    total_output_tokens: outputTokens,
    request_throughput: perSecond(completed),
    request_goodput: slo === undefined ? null : perSecond(attainmentOf(record.log, slo).good),
    output_throughput: perSecond(outputTokens),
    total_token_throughput: perSecond(inputTokens + outputTokens),
    max_output_tokens_per_s: record.peakOutputTokensPerSecond,
    max_concurrent_requests: mostConcurrent(record.log),
    rtfx: 0,
    ...Object.fromEntries(
      wanted.flatMap((name) => latencyEntries(name, latencies[name], percentiles)),
    ),
  };
}

/** `p99` of 99, `p99.9` of 99.9, as vLLM names them. */
export function percentileName(percentile: number): string {
  return `p${percentile}`;
}

interface Statistics {
  readonly mean: number;
  readonly std: number;
  /** The quantile at a share in 0..1, µs. */
  readonly at: (share: number) => number;
}

function latencyEntries(
  name: Objective,
  { mean, std, at }: Statistics,
  percentiles: readonly number[],
): (readonly [string, number])[] {
  const ms = (us: number): number => roundTo(us / US_PER_MS, 6) ?? 0;
  return [
    [`mean_${name}_ms`, ms(mean)],
    [`median_${name}_ms`, ms(at(0.5))],
    [`std_${name}_ms`, ms(std)],
    ...percentiles.map(
      (each) => [`${percentileName(each)}_${name}_ms`, ms(at(each / 100))] as const,
    ),
  ];
}

function statisticsOf({ log, itl, itlSquareSum }: BenchmarkRecord): Record<Objective, Statistics> {
  const { ttftUs, tpotUs, e2elUs } = latenciesOf(log);
  const itlMean = itl.count === 0 ? 0 : itl.meanUs;
  const itlVariance = itl.count === 0 ? 0 : itlSquareSum / itl.count - itlMean * itlMean;
  return {
    ttft: statistics(ttftUs),
    tpot: statistics(tpotUs),
    itl: {
      mean: itlMean,
      std: Math.sqrt(Math.max(0, itlVariance)),
      at: (share) => (itl.count === 0 ? 0 : itl.quantileUs(Math.max(share, Number.MIN_VALUE))),
    },
    e2el: statistics(e2elUs),
  };
}

function statistics(ascending: Float64Array): Statistics {
  if (ascending.length === 0) return { mean: 0, std: 0, at: () => 0 };
  const average = mean(ascending);
  const squares = ascending.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return {
    mean: average,
    std: Math.sqrt(squares / ascending.length),
    at: (share) => quantile(ascending, share),
  };
}

function totalsOf(log: RequestLog) {
  const failures = (['rejected', 'refused', 'failed'] as const).map(outcomeCode);
  const totals = { completed: 0, failed: 0, inputTokens: 0, outputTokens: 0 };
  for (let row = 0; row < log.count; row++) {
    const outcome = log.outcome[row]!;
    if (failures.includes(outcome)) totals.failed += 1;
    if (outcome !== COMPLETED) continue;
    totals.completed += 1;
    totals.inputTokens += log.promptTokens[row]!;
    totals.outputTokens += log.emittedTokens[row]!;
  }
  return totals;
}

/**
 * Largest number of completed requests that share a second, counted from the first one sent, as
 * vLLM counts.
 */
function mostConcurrent(log: RequestLog): number {
  const rows = Array.from({ length: log.count }, (_none, row) => row).filter(
    (row) => log.outcome[row] === COMPLETED,
  );
  const beginUs = rows.reduce((first, row) => Math.min(first, log.arrivalUs.at(row)), Infinity);
  const secondOf = (us: number): number => Math.floor((us - beginUs) / US_PER_SECOND);
  const changes = new Map<number, number>();
  const change = (second: number, by: number): void => {
    changes.set(second, (changes.get(second) ?? 0) + by);
  };
  for (const row of rows) {
    change(secondOf(log.arrivalUs.at(row)), 1);
    change(secondOf(log.finishUs.at(row)) + 1, -1);
  }
  let [now, most] = [0, 0];
  for (const [, by] of [...changes].sort(([a], [b]) => a - b)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
