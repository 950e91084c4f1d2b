import type { Watched } from './loop-watches';
import type { Cost } from './process-cost';

/** The cost of a request for the API, beyond that of the steady streams. */
export interface AttackCost {
  readonly cpuMs: number;
  readonly mib: number;
  /** The longest time for which the event loop was held, ms of CPU time. */
  readonly heldMs: number;
}

/**
 * The steady streams always cost CPU time. While the loop waits for a CPU their tokens pile up, and
 * the turn after the wait writes all of them: that share of the wait is not a cost of the attack.
 */
export function attackCost(before: Cost, during: Cost & Watched): AttackCost {
  const steady = before.cpuMs / before.tookMs;
  return {
    cpuMs: during.cpuMs - steady * during.tookMs,
    mib: (during.peakKib - before.peakKib) / 1024,
    heldMs: during.heldMs - steady * during.waitedMs,
  };
}
