import { usToSeconds } from '@baton/kernel';
import { type Distribution, distributionOf } from './distribution';
import type { IntervalHistogram } from './interval-histogram';
import { type Latencies, latenciesOf } from './latencies';
import { NEVER } from './instants';
import { outcomeCode, type RequestLog } from './request-log';
import { roundTo } from './round-to';

/**
 * A run of a live cluster, whose rows are those of the workload that it is compared on. Rows
 * without data are `unfinished`.
 */
export interface RecordedRun {
  /** Tokens at their instants in the API process, where clients get them. */
  readonly seen: RequestLog;
  /** The recorded requests with the instants that the engines stamped. */
  readonly stamped: RequestLog;
  /** Gaps between the tokens of completed requests in the API process. */
  readonly itl: IntervalHistogram;
  /** Simulated seconds per wall second during the recording. */
  readonly speedup: number;
}

export interface ComparedRuns {
  readonly recorded: RecordedRun;
  readonly simulated: { readonly log: RequestLog; readonly itl: IntervalHistogram };
}

/**
 * Error of the simulated figure: (simulated − recorded) / recorded, in percent. Null where a figure
 * is missing.
 */
export type ErrorPercent = Readonly<Record<keyof Distribution, number | null>>;

export interface ComparedLatency {
  readonly recorded: Distribution;
  /** Null for gaps, which are measured only in the API process. */
  readonly stamped: Distribution | null;
  readonly simulated: Distribution;
  readonly error_percent: ErrorPercent;
}

export interface ComparedRate {
  readonly recorded: number | null;
  readonly simulated: number | null;
  readonly error_percent: number | null;
}

/**
 * Recorded against simulated, over the requests that completed in both; docs/recording.md defines
 * each name.
 */
export interface Comparison {
  readonly requests: number;
  /** Requests that completed in only one of the two runs. */
  readonly recorded_only: number;
  readonly simulated_only: number;
  readonly ttft_ms: ComparedLatency;
  readonly tpot_ms: ComparedLatency;
  readonly itl_ms: ComparedLatency;
  readonly e2el_ms: ComparedLatency;
  readonly request_rps: ComparedRate;
  readonly output_tokens_per_second: ComparedRate;
  /** Wall time from the stamp of a first token to the API process, ms. */
  readonly delivery_ms: Distribution;
  /**
   * True when 99 % of the first tokens arrived within 5 ms. Otherwise the machine was too slow, and
   * the recorded times are not those of the engines.
   */
  readonly kept_up: boolean;
}

export interface ComparedLatencies {
  readonly recorded: Latencies;
  readonly stamped: Latencies;
  readonly simulated: Latencies;
}

const COMPLETED = outcomeCode('completed');
const KEPT_UP_MS = 5;

/** Latencies of the requests that completed in both runs. */
export function comparedLatencies({ recorded, simulated }: ComparedRuns): ComparedLatencies {
  const isBoth = inBoth({ recorded, simulated });
  return {
    recorded: latenciesOf(recorded.seen, isBoth),
    stamped: latenciesOf(recorded.stamped, isBoth),
    simulated: latenciesOf(simulated.log, isBoth),
  };
}

export function compareRuns(
  runs: ComparedRuns,
  latencies: ComparedLatencies = comparedLatencies(runs),
): Comparison {
  const { recorded, simulated } = runs;
  const isBoth = inBoth(runs);
  const compared = (name: keyof Latencies): ComparedLatency => {
    return comparedLatency(
      distributionOf(latencies.recorded[name]),
      distributionOf(latencies.simulated[name]),
      distributionOf(latencies.stamped[name]),
    );
  };
  const seen = throughputOf(recorded.seen, isBoth);
  const ours = throughputOf(simulated.log, isBoth);
  const delivery = distributionOf(deliveriesOf(recorded, isBoth));
  return {
    requests: latencies.simulated.ttftUs.length,
    recorded_only: uncountedIn(recorded.seen, isBoth),
    simulated_only: uncountedIn(simulated.log, isBoth),
    ttft_ms: compared('ttftUs'),
    tpot_ms: compared('tpotUs'),
    itl_ms: comparedLatency(distributionOf(recorded.itl), distributionOf(simulated.itl), null),
    e2el_ms: compared('e2elUs'),
    request_rps: comparedRate(seen.requests, ours.requests),
    output_tokens_per_second: comparedRate(seen.tokens, ours.tokens),
    delivery_ms: delivery,
    kept_up: (delivery.p99 ?? 0) < KEPT_UP_MS,
  };
}

type IsCounted = (row: number) => boolean;

function inBoth({ recorded, simulated }: ComparedRuns): IsCounted {
  const [one, other] = [recorded.seen.outcome, simulated.log.outcome];
  return (row) => one[row] === COMPLETED && other[row] === COMPLETED;
}

/** Completed requests that are not counted. */
function uncountedIn(log: RequestLog, isCounted: IsCounted): number {
  let count = 0;
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] === COMPLETED && !isCounted(row)) count++;
  }
  return count;
}

/** Rate per second from the first arrival to the last token. */
function throughputOf(log: RequestLog, isCounted: IsCounted): { requests: number; tokens: number } {
  let [count, tokens, beginUs, endUs] = [0, 0, Infinity, 0];
  for (let row = 0; row < log.count; row++) {
    if (!isCounted(row)) continue;
    count++;
    tokens += log.emittedTokens[row]!;
    beginUs = Math.min(beginUs, log.arrivalUs.at(row));
    endUs = Math.max(endUs, log.finishUs.at(row));
  }
  const seconds = count === 0 ? NaN : usToSeconds(endUs - beginUs);
  return { requests: count / seconds, tokens: tokens / seconds };
}

/** Delays of delivery in wall µs, ascending. */
function deliveriesOf({ seen, stamped, speedup }: RecordedRun, isCounted: IsCounted): Float64Array {
  const late: number[] = [];
  for (let row = 0; row < seen.count; row++) {
    if (!isCounted(row) || stamped.firstTokenUs.at(row) === NEVER) continue;
    late.push((seen.firstTokenUs.at(row) - stamped.firstTokenUs.at(row)) / speedup);
  }
  return Float64Array.from(late).sort();
}

function comparedLatency(
  recorded: Distribution,
  simulated: Distribution,
  stamped: Distribution | null,
): ComparedLatency {
  const errors = Object.entries(recorded).map(([name, ms]) => {
    return [name, errorPercent(ms as number | null, simulated[name as keyof Distribution])];
  });
  const error_percent = Object.fromEntries(errors) as ErrorPercent;
  return { recorded, stamped, simulated, error_percent };
}

function comparedRate(recorded: number, simulated: number): ComparedRate {
  const [one, other] = [roundTo(recorded, 3), roundTo(simulated, 3)];
  return { recorded: one, simulated: other, error_percent: errorPercent(one, other) };
}

function errorPercent(recorded: number | null, simulated: number | null): number | null {
  if (recorded === null || simulated === null) return null;
  return roundTo((100 * (simulated - recorded)) / recorded, 2);
}
