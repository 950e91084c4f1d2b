/** A step, a frame or a request of a live run is late beyond this, in ms of wall time. */
export const LATE_MS = 10;
const MOST_LATE_SHARE = 0.01;

/** Whether so many late events void the figures of a live run. One late event of few does not. */
export function areTooLate(late: number, all: number): boolean {
  return late > Math.max(1, MOST_LATE_SHARE * all);
}
