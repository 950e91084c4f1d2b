import { NoAnswer, type PolicyCall, type PolicyWatch } from '@baton/placement';
import { Boundary } from './boundary';
import { CallWatch } from './call-watch';

/** A call on the live clock blocks all requests of its process. */
const LIVE_LIMIT_MS = 50;
/** On the virtual clock a call may be slow, for the same seed must give the same choices. */
const VIRTUAL_LIMIT_MS = 1_000;

let boundary: Boundary | undefined;

/** Each call by itself. */
const callWithin =
  (limitMs: number): PolicyCall =>
  (ask) => {
    boundary ??= new Boundary();
    const end = boundary.call(ask, limitMs);
    if (end === undefined) throw new NoAnswer(limitMs);
    return end.value;
  };

/** The watch of policies in a live process. */
export function liveWatch(onFault: PolicyWatch['onFault']): PolicyWatch {
  return { onFault, nowMs: () => performance.now(), call: callWithin(LIVE_LIMIT_MS) };
}

/**
 * A run on the virtual clock whose policies' calls are ended when they do not return.
 *
 * @param run gets the way to call policies; it is called again from the beginning, with another
 *   way, when a call of the first run was ended
 */
export function runBounded<T>(run: (call: PolicyCall) => T): T {
  const watch = CallWatch.start(VIRTUAL_LIMIT_MS);
  if (watch !== undefined) {
    boundary ??= new Boundary();
    const end = boundary.call(() => run((ask) => watch.during(ask)));
    watch.stop();
    if (end !== undefined) return end.value;
  }
  return run(callWithin(VIRTUAL_LIMIT_MS));
}
