import type { Micros } from '@baton/kernel';
import { NEVER } from './instants';
import { type Ordered, orderedOf } from './ordered';
import { outcomeCode, type RequestLog } from './request-log';

/**
 * Latencies of the completed requests in µs. Each column is sorted separately, in ascending order.
 */
export interface Latencies {
  /** Arrival to first token. */
  readonly ttftUs: Float64Array;
  /** (end-to-end − TTFT) / (tokens − 1), without requests of a single token. */
  readonly tpotUs: Float64Array;
  /** Arrival to last token. */
  readonly e2elUs: Float64Array;
}

const COMPLETED = outcomeCode('completed');

/** Each latency, or what is found of it. */
export type OfLatencies<T> = Readonly<Record<keyof Latencies, T>>;

/**
 * Calls `use` with one latency after the other, in ascending order. It takes 8 bytes per request,
 * or none when the log is spilled.
 *
 * @param isCounted  selects completed requests; default: all
 */
export function eachLatency<T>(
  log: RequestLog,
  use: (lengths: Ordered, name: keyof Latencies) => T,
  isCounted: (row: number) => boolean = () => true,
): OfLatencies<T> {
  const found = (name: keyof Latencies, latencyOf: typeof ttftOf, tokens: number): T => {
    const isMeant = (row: number): boolean =>
      log.emittedTokens[row]! >= tokens && hasLatencies(log, row) && isCounted(row);
    return use(
      orderedOf(log, isMeant, (row) => latencyOf(log, row)),
      name,
    );
  };
  return {
    ttftUs: found('ttftUs', ttftOf, 0),
    tpotUs: found('tpotUs', tpotOf, 2),
    e2elUs: found('e2elUs', e2elOf, 0),
  };
}

function hasLatencies(log: RequestLog, row: number): boolean {
  return log.outcome[row] === COMPLETED && log.firstTokenUs.at(row) !== NEVER;
}

/**
 * Sorts the latencies of the log. The definitions are those of vLLM's benchmark.
 *
 * @param isCounted  selects completed requests; default: all
 */
export function latenciesOf(
  log: RequestLog,
  isCounted: (row: number) => boolean = () => true,
): Latencies {
  const { ttftUs, tpotUs, e2elUs } = latenciesInOrder(log, isCounted);
  return { ttftUs: ttftUs.sort(), tpotUs: tpotUs.sort(), e2elUs: e2elUs.sort() };
}

/** Latencies of the completed requests in the order of the log. */
export interface LatenciesInOrder extends Latencies {
  /** Gaps between tokens of each request that has a TPOT. */
  readonly gaps: Float64Array;
}

/** The latencies of the log, unsorted: neighbours in a column are neighbours in the workload. */
export function latenciesInOrder(
  log: RequestLog,
  isCounted: (row: number) => boolean = () => true,
): LatenciesInOrder {
  const column = (): Float64Array => new Float64Array(log.count);
  const [ttftUs, tpotUs, e2elUs, gaps] = [column(), column(), column(), column()];
  let measured = 0;
  let spread = 0;
  for (let row = 0; row < log.count; row++) {
    if (!hasLatencies(log, row) || !isCounted(row)) continue;
    ttftUs[measured] = ttftOf(log, row);
    e2elUs[measured++] = e2elOf(log, row);
    if (log.emittedTokens[row]! < 2) continue;
    gaps[spread] = log.emittedTokens[row]! - 1;
    tpotUs[spread++] = tpotOf(log, row);
  }
  return {
    ttftUs: ttftUs.subarray(0, measured),
    e2elUs: e2elUs.subarray(0, measured),
    tpotUs: tpotUs.subarray(0, spread),
    gaps: gaps.subarray(0, spread),
  };
}

function ttftOf(log: RequestLog, row: number): Micros {
  return log.firstTokenUs.at(row) - log.arrivalUs.at(row);
}

function e2elOf(log: RequestLog, row: number): Micros {
  return log.finishUs.at(row) - log.arrivalUs.at(row);
}

/** Time per output token after the first, in µs. 0 for a single token, as in vLLM's benchmark. */
export function tpotOf(log: RequestLog, row: number): number {
  const gaps = log.emittedTokens[row]! - 1;
  return gaps < 1 ? 0 : (log.finishUs.at(row) - log.firstTokenUs.at(row)) / gaps;
}
