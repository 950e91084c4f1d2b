/** Of the runs of a large property test, `npm test` makes one in so many. */
const SHARE = 3;

/**
 * How many runs a large property test makes: a third of `full`, and all of them in
 * `npm run test:all` (`PROPERTY_RUNS=full`). At least 1.
 */
export function runsOf(full: number): number {
  const isFull = process.env['PROPERTY_RUNS'] === 'full';
  return isFull ? full : Math.max(1, Math.ceil(full / SHARE));
}
