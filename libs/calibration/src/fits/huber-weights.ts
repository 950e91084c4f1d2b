/** Standard deviations up to which errors count in full (Huber 1964). */
const HUBER = 1.345;
/** Factor from the median of |error| to a standard deviation, for normal errors. */
const DEVIATION_PER_MEDIAN = 1.4826;
/** Smallest relative standard deviation of a measurement. */
const SMALLEST_DEVIATION = 1e-3;

/**
 * The weights of squared errors that make least squares robust: a pause of a client or a network
 * is not a property of a step, so outliers count less.
 *
 * @param errors relative errors, at least 0
 */
export function huberWeights(errors: readonly number[]): number[] {
  const upperMedian = [...errors].sort((a, b) => a - b)[Math.floor(errors.length / 2)]!;
  const full = HUBER * Math.max(SMALLEST_DEVIATION, DEVIATION_PER_MEDIAN * upperMedian);
  return errors.map((error) => (error <= full ? 1 : full / error));
}
