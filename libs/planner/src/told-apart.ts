import { type Interval, widened } from '@baton/analysis';
import { TOLERANCE, type TaskResult } from './plan-task';
import { goodputOf, type SplitResult } from './split-result';

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

/**
 * The factor by which two goodputs must differ to be distinguished. Both splits serve the same
 * requests on the same kind of deployment, so chance and the shared error of its step times cancel.
 * The rest of that error and the width of the search remain.
 */
export function apartFactor(one: SplitResult, other: SplitResult): number {
  const apart = [one, other].map((each) => each.measured?.figures?.intervals.model.apart ?? 1);
  return Math.exp(Math.hypot(Math.log(Math.max(...apart)), Math.log(1 + TOLERANCE)));
}

/** Whether the difference of two goodputs exceeds its uncertainty. */
export function isToldApart(one: SplitResult, other: SplitResult): boolean {
  const [less = 0, more = 0] = [goodputOf(one), goodputOf(other)].sort((a, b) => a - b);
  return more > less * apartFactor(one, other);
}
