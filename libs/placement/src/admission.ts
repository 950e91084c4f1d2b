import type { Micros } from '@baton/kernel';
import type { PlacementContext } from './policy';
import { estimateTtftUs } from './ttft-estimate';

/**
 * Whether one more request may wait. @param maxWaiting requests that may wait for one stage;
 * Infinity = no bound
 */
export function hasQueueRoom(waiting: number, maxWaiting: number): boolean {
  return waiting < maxWaiting;
}

/**
 * The TTFT that a request can hope for, in µs: the smallest estimate over the engines of the stage,
 * when the prompt tokens in the stage's shared queue are spread evenly. What comes after the prompt
 * (hand-over, first decode step) is left out, so the estimate is rather too low and never refuses a
 * request that had a chance.
 *
 * @param sharedTokens prompt tokens that wait in the stage's shared queue; 0 when every engine has
 *   its own
 */
export function predictTtftUs(context: PlacementContext, sharedTokens: number): Micros {
  const { engines } = context;
  let soonest = Infinity;
  for (let i = 0; i < engines.length; i++) {
    const us = estimateTtftUs(context, engines[i]!, sharedTokens / engines.length);
    if (us < soonest) soonest = us;
  }
  return soonest;
}
