import { type Interval, NO_ERROR, widened } from '@baton/analysis';
import { TOLERANCE, type TaskResult } from './plan-task';
import { goodputOf } from './split-result';
import { compareWindows, windowInterval } from './windows';

const SEARCHED = { low: 1 / (1 + TOLERANCE), high: 1 + TOLERANCE };

/**
 * The 80 % interval of a split's completed rate. It covers another hour of the load, the width of
 * the search, and an error of the step times, which changes a rate by the same factor. The hours
 * are windows of the workload; without them, another sample of the same hour.
 *
 * @param windows  goodput in each window, requests per second
 */
export function goodputInterval(
  result: TaskResult,
  windows: readonly number[] = [],
): Interval | undefined {
  const { completedRate, figures } = result;
  const rps = figures?.request_rps ?? 0;
  const ends = figures?.intervals.request_rps;
  if (figures === undefined || !ends || rps === 0) return undefined;
  const own = ends.map((end) => (end / rps) * completedRate) as [number, number];
  const hours = windowInterval(windows) ?? own;
  const sampled = [Math.min(own[0], hours[0]), Math.max(own[1], hours[1])] as const;
  const { low, high } = figures.intervals.model.e2el;
  const searched = widened(completedRate, sampled, SEARCHED);
  return widened(completedRate, searched, { low: 1 / high, high: 1 / low });
}

/** A split or a fleet with its measurement. */
interface Measured {
  readonly measured: TaskResult | undefined;
  /** Its goodput in each window, requests per second. */
  readonly windows?: readonly number[] | undefined;
}

/** The comparison of two results. */
export interface FigureComparison<R extends Measured> {
  /** The compared figure, in proportion to the goodput. Default: the goodput. */
  readonly figureOf?: (one: R) => number;
  /** True: both have the same kind of deployment, so they share most of the error. The default. */
  readonly sharesErrors?: boolean;
}

/**
 * The factor by which two goodputs must differ to be distinguished. Both results serve the same
 * requests, so chance cancels. On the same kind of deployment the shared error of the step times
 * cancels too: the rest of that error and the width of the search remain. On different kinds, no
 * part of the error is known to be shared, so the whole error of both counts.
 */
export function apartFactor(one: Measured, other: Measured, sharesErrors = true): number {
  const parts = sharesErrors
    ? [Math.max(...[one, other].map(ownError))]
    : [one, other].map(wholeError);
  return Math.exp(Math.hypot(...[...parts, 1 + TOLERANCE].map(Math.log)));
}

function ownError({ measured }: Measured): number {
  return measured?.figures?.intervals.model.apart ?? 1;
}

function wholeError({ measured }: Measured): number {
  const { low, high } = measured?.figures?.intervals.model.e2el ?? NO_ERROR;
  return Math.max(high, 1 / low);
}

/**
 * Whether the difference of two figures exceeds its uncertainty: it is larger than the errors
 * explain, and the better one is better in most windows too, where both were tried in windows.
 */
export function isToldApart<R extends Measured>(
  one: R,
  other: R,
  { figureOf = goodputOf, sharesErrors = true }: FigureComparison<R> = {},
): boolean {
  const [less, more] = figureOf(one) > figureOf(other) ? [other, one] : [one, other];
  if (figureOf(more) <= figureOf(less) * apartFactor(one, other, sharesErrors)) return false;
  if (figureOf !== goodputOf || !more.windows || !less.windows) return true;
  return compareWindows(more.windows, less.windows).isBetter;
}
