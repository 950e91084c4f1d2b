const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 60;

/**
 * Whole seconds for `Retry-After`: the time that the queue needs to drain at its recent rate, from
 * 1 to 60. A queue that does not drain gives 60.
 *
 * @param waiting requests in the queue
 * @param drainedPerSecond requests that recently left it per second
 */
export function retryAfterSeconds(waiting: number, drainedPerSecond: number): number {
  if (waiting <= 0) return SHORTEST_SECONDS;
  if (!(drainedPerSecond > 0)) return LONGEST_SECONDS;
  const seconds = Math.ceil(waiting / drainedPerSecond);
  return Math.min(Math.max(seconds, SHORTEST_SECONDS), LONGEST_SECONDS);
}
