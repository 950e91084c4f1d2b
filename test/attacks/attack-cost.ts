import type { Watched } from './loop-watches';
import type { Cost } from './process-cost';

/** The cost of a request for the API, beyond that of the steady streams. */
export interface AttackCost {
  readonly cpuMs: number;
  readonly mib: number;
  /** The longest time for which the event loop was held, ms of CPU time. */
  readonly heldMs: number;
  /** True when the waits for a CPU are so long that `heldMs` is no measure. */
  readonly isHeldVoid: boolean;
}

/** Largest share of a wait that is taken off the time for which the loop was held, ms. */
const MOST_SHARE_MS = 20;

/**
 * The steady streams always cost CPU time. While the loop waits for a CPU their tokens pile up, and
 * the turn after the wait writes all of them: that share of the wait is not a cost of the attack. A
 * share that is as long as the attack may hold the loop would hide it.
 */
export function attackCost(before: Cost, during: Cost & Watched): AttackCost {
  const steady = before.cpuMs / before.tookMs;
  const shareMs = steady * during.waitedMs;
  return {
    cpuMs: during.cpuMs - steady * during.tookMs,
    mib: (during.peakKib - before.peakKib) / 1024,
    heldMs: during.heldMs - Math.min(shareMs, MOST_SHARE_MS),
    isHeldVoid: shareMs > MOST_SHARE_MS,
  };
}
