import { type BatonConfig, hasOwnPolicy } from '@baton/config';
import { type PolicyCall, runBounded } from '@baton/policies';

/**
 * A run of a configuration on the virtual clock. Policies of the user's own are watched.
 *
 * @param run gets the way to call them; called again from the beginning when a call did not return
 */
export function runWatched<T>(config: BatonConfig, run: (call?: PolicyCall) => T): T {
  return hasOwnPolicy(config) ? runBounded(run) : run();
}
