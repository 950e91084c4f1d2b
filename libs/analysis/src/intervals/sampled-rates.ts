import { sloTest, type Slo } from '../slo';
import { NEVER } from '../instants';
import { outcomeCode, type RequestLog } from '../request-log';
import type { RunRecord } from '../run-record';
import { blockCount, inBlocks, ratioError, shareInterval, standardErrors, sumOf } from './blocks';
import type { ErrorFactors, Interval } from './interval';

const COMPLETED = outcomeCode('completed');

/** The weight of each request in a rate. */
export const WEIGHTS = {
  requests: () => 1,
  outputTokens: (log: RequestLog, row: number) => log.emittedTokens[row]!,
  totalTokens: (log: RequestLog, row: number) => log.promptTokens[row]! + log.emittedTokens[row]!,
} as const;

/**
 * The interval of a rate in another sample, from the unequal completions in equal spans of time
 * between first arrival and end.
 */
export function sampledRate(
  { log, endUs }: RunRecord,
  weightOf: (log: RequestLog, row: number) => number,
): ErrorFactors {
  const startUs = firstArrivalUs(log);
  const windows = blockCount(log.count);
  const parts = new Float64Array(windows);
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== COMPLETED) continue;
    const window = Math.floor(((log.finishUs.at(row) - startUs) / (endUs - startUs)) * windows);
    parts[Math.min(windows - 1, Math.max(0, window))]! += weightOf(log, row);
  }
  const total = sumOf(parts);
  if (windows < 2 || total === 0) return { low: 1, high: 1 };
  const error = ratioError(parts, new Float64Array(windows).fill(1)) / (total / windows);
  const high = Math.exp(standardErrors(windows) * error);
  return { low: 1 / high, high };
}

/** The share of requests that meet the objectives, among all. */
export function sampledAttainment(log: RequestLog, slo: Slo): Interval {
  const isGood = sloTest(log, slo);
  const { parts, wholes } = inBlocks(log.count, (row) => (isGood(row) ? 1 : 0));
  return shareInterval(parts, wholes);
}

/** The share of cached prompt tokens, among requests that reached an engine. */
export function sampledHitRate(log: RequestLog): Interval | undefined {
  const requested = (row: number): number => {
    return log.prefillStartUs.at(row) === NEVER ? 0 : log.promptTokens[row]!;
  };
  const { parts: wholes } = inBlocks(log.count, requested);
  const { parts } = inBlocks(log.count, (row) =>
    requested(row) === 0 ? 0 : log.cachedTokens[row]!,
  );
  const whole = sumOf(wholes);
  if (whole === 0) return undefined;
  const share = sumOf(parts) / whole;
  const half = parts.length < 2 ? 0 : standardErrors(parts.length) * ratioError(parts, wholes);
  return [Math.max(0, share - half), Math.min(1, share + half)];
}

function firstArrivalUs(log: RequestLog): number {
  let firstUs = Infinity;
  for (let row = 0; row < log.count; row++) {
    const arrivalUs = log.arrivalUs.at(row);
    if (arrivalUs !== NEVER && arrivalUs < firstUs) firstUs = arrivalUs;
  }
  return firstUs;
}

/**
 * The effect of the error of step times on a rate. Where arrivals are given, only the time after
 * the last arrival scales with the steps. Where requests wait for answers, all of the time does.
 */
export function modelledRate(
  { log, endUs }: RunRecord,
  { low, high }: ErrorFactors,
  isClosedLoop: boolean,
): ErrorFactors {
  let lastUs = 0;
  if (!isClosedLoop) {
    for (let row = 0; row < log.count; row++) lastUs = Math.max(lastUs, log.arrivalUs.at(row));
  }
  const lengthAt = (factor: number): number => lastUs + (endUs - lastUs) * factor;
  return { low: endUs / lengthAt(high), high: endUs / lengthAt(low) };
}
