import {
  type Distribution,
  distributionOf,
  IntervalHistogram,
  type Latencies,
  latenciesOf,
  outcomeCode,
  type RequestLog,
} from '@baton/analysis';
import { msToUs } from '@baton/kernel';

/** The figures of a run, as users see them. */
export interface Figures {
  readonly completed: number;
  readonly ttftMs: Distribution;
  readonly itlMs: Distribution;
  readonly tpotMs: Distribution;
  readonly e2elMs: Distribution;
  readonly outputTokensPerSecond: number;
  readonly requestsPerSecond: number;
}

const US_PER_SECOND = 1e6;
const COMPLETED = outcomeCode('completed');

/** The records of a run. */
export interface Logged {
  readonly log: RequestLog;
  readonly itl: IntervalHistogram;
}

/**
 * The figures of one run or of several consecutive ones. @param overheadMs  per request, if the run
 * has no overhead of its own: added to its first token and its end
 */
export function figuresOf(runs: readonly Logged[], overheadMs: number): Figures {
  const latencies = runs.map(({ log }) => latenciesOf(log));
  const all = (key: keyof Latencies, addedUs = 0): Distribution =>
    distributionOf(
      Float64Array.from(
        latencies.flatMap((own) => Array.from(own[key], (us) => us + addedUs)),
      ).sort(),
    );
  const itl = new IntervalHistogram();
  for (const run of runs) itl.merge(run.itl);
  const [completed, tokens, seconds] = totalsOf(runs);
  return {
    completed,
    ttftMs: all('ttftUs', msToUs(overheadMs)),
    itlMs: distributionOf(itl),
    tpotMs: all('tpotUs'),
    e2elMs: all('e2elUs', msToUs(overheadMs)),
    outputTokensPerSecond: tokens / seconds,
    requestsPerSecond: completed / seconds,
  };
}

type Totals = readonly [completed: number, tokens: number, seconds: number];

function totalsOf(runs: readonly Logged[]): Totals {
  const each = runs.map(({ log }) => totalsIn(log));
  const sum = (k: 0 | 1 | 2): number => each.reduce((total, own) => total + own[k], 0);
  return [sum(0), sum(1), sum(2)];
}

/** Totals of a run, from the first request to the last token. */
function totalsIn(log: RequestLog): Totals {
  let [completed, tokens, beginUs, endUs] = [0, 0, Infinity, -Infinity];
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== COMPLETED) continue;
    completed += 1;
    tokens += log.emittedTokens[row]!;
    beginUs = Math.min(beginUs, log.arrivalUs.at(row));
    endUs = Math.max(endUs, log.finishUs.at(row));
  }
  return [completed, tokens, completed > 0 ? (endUs - beginUs) / US_PER_SECOND : 0];
}

/** A figure of both runs. */
export interface Beside {
  readonly name: string;
  readonly unit: 'ms' | 'per second';
  readonly real: number;
  readonly simulated: number;
  /** simulated / real − 1. */
  readonly error: number;
  /** True when `--max-error` applies to it: not for tails, which consist of few requests. */
  readonly isJudged: boolean;
}

type LatencyKey = 'ttftMs' | 'itlMs' | 'tpotMs' | 'e2elMs';
type Statistic = 'mean' | 'p50' | 'p90' | 'p99';

const LATENCIES: readonly (readonly [string, LatencyKey, readonly Statistic[]])[] = [
  ['TTFT', 'ttftMs', ['mean', 'p50', 'p90', 'p99']],
  ['ITL', 'itlMs', ['mean', 'p50', 'p99']],
  ['TPOT', 'tpotMs', ['mean', 'p50']],
  ['E2EL', 'e2elMs', ['mean', 'p50', 'p90', 'p99']],
];

/** Figures that are missing in either run are left out. */
export function sideBySide(real: Figures, simulated: Figures): readonly Beside[] {
  const latencies = LATENCIES.flatMap(([name, key, statistics]) =>
    statistics.map((statistic) => {
      const values = [real[key][statistic], simulated[key][statistic]] as const;
      const isJudged = statistic === 'mean' || statistic === 'p50';
      return { name: `${name} ${statistic}`, unit: 'ms' as const, values, isJudged };
    }),
  );
  const rates = (
    [
      ['output tokens', 'outputTokensPerSecond'],
      ['requests', 'requestsPerSecond'],
    ] as const
  ).map(([name, key]) => {
    return { name, unit: 'per second' as const, values: [real[key], simulated[key]] as const };
  });
  return [...latencies, ...rates.map((rate) => ({ ...rate, isJudged: true }))].flatMap(
    ({ values: [measured, replayed], ...row }) => {
      if (measured === null || replayed === null || !(measured > 0)) return [];
      return { ...row, real: measured, simulated: replayed, error: replayed / measured - 1 };
    },
  );
}
