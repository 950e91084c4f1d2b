import { type Interval, NO_ERROR, widened } from '@baton/analysis';
import { TOLERANCE, type TaskResult } from './plan-task';
import { goodputOf } from './split-result';

const SEARCHED = { low: 1 / (1 + TOLERANCE), high: 1 + TOLERANCE };

/**
 * The 80 % interval of a split's completed rate. It covers another sample of the load, the width of
 * the search, and an error of the step times, which changes a rate by the same factor.
 */
export function goodputInterval(result: TaskResult): Interval | undefined {
  const { completedRate, figures } = result;
  const rps = figures?.request_rps ?? 0;
  const ends = figures?.intervals.request_rps;
  if (figures === undefined || !ends || rps === 0) return undefined;
  const sampled = ends.map((end) => (end / rps) * completedRate) as [number, number];
  const { low, high } = figures.intervals.model.e2el;
  const searched = widened(completedRate, sampled, SEARCHED);
  return widened(completedRate, searched, { low: 1 / high, high: 1 / low });
}

/** A split or a fleet with its measurement. */
interface Measured {
  readonly measured: TaskResult | undefined;
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

/** Whether the difference of two figures exceeds its uncertainty. */
export function isToldApart<R extends Measured>(
  one: R,
  other: R,
  { figureOf = goodputOf, sharesErrors = true }: FigureComparison<R> = {},
): boolean {
  const [less = 0, more = 0] = [figureOf(one), figureOf(other)].sort((a, b) => a - b);
  return more > less * apartFactor(one, other, sharesErrors);
}
