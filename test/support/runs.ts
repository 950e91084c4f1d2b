/** `npm test` makes one in this many runs of a large property test. */
const SHARE = 3;

/**
 * The number of runs of a large property test: a third of `full`, and all of them in `npm run
 * test:all` (`PROPERTY_RUNS=full`). At least 1.
 */
export function runsOf(full: number): number {
  const isFull = process.env['PROPERTY_RUNS'] === 'full';
  return isFull ? full : Math.max(1, Math.ceil(full / SHARE));
}
