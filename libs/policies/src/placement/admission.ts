import type { Micros } from '@baton/kernel';
import type { PlacementContext } from './policy';
import { estimateTtftUs } from './ttft-estimate';

/**
 * Whether one more request can wait. @param maxWaiting limit of requests that wait for one stage;
 * Infinity = no limit
 */
export function hasQueueRoom(waiting: number, maxWaiting: number): boolean {
  return waiting < maxWaiting;
}

/**
 * The predicted TTFT of a request, in µs: the smallest estimate over the engines of the stage, with
 * the prompt tokens in the stage's shared queue spread evenly. It leaves out hand-over and first
 * decode step, so it is too low rather than too high and never refuses a request that could meet
 * its target.
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
