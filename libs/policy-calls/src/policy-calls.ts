import { NoAnswer, type PolicyCall, type PolicyWatch } from '@baton/placement';
import { Boundary } from './boundary';
import { CallWatch } from './call-watch';

/** A call on the live clock blocks all requests of its process. */
const LIVE = { limitMs: 50, lookMs: 10 } as const;
/** On the virtual clock a call may be slow, for the same seed must give the same choices. */
const VIRTUAL = { limitMs: 1_000, lookMs: 25 } as const;
/** V8 ends a call that the watching thread has not ended this long after its limit. */
const GRACE_MS = 2_000;

let boundary: Boundary | undefined;

/** Each call by itself. Without a watching thread, V8 ends it, and the line is unknown. */
function callWithin(limitMs: number, watch: CallWatch | undefined): PolicyCall {
  return (ask) => {
    boundary ??= new Boundary();
    const watching = watch?.isReady === true ? watch : undefined;
    const end =
      watching === undefined
        ? boundary.call(ask, limitMs)
        : boundary.call(() => watching.during(ask), limitMs + GRACE_MS);
    if (end !== undefined) return end.value;
    if (watching !== undefined) boundary.call(() => watching.close());
    throw new NoAnswer(limitMs, watching?.takePlace());
  };
}

/** One for all policies of the process. */
let liveCall: PolicyCall | undefined;

function prepareLive(): PolicyCall {
  const { limitMs, lookMs } = LIVE;
  return (liveCall ??= callWithin(limitMs, CallWatch.start(limitMs, lookMs)));
}

/** The watch of policies in a live process. Its thread starts when there is a user's policy. */
export function liveWatch(onFault: PolicyWatch['onFault']): PolicyWatch {
  return {
    ...{ onFault, nowMs: () => performance.now() },
    call: (ask) => prepareLive()(ask),
    prepare: () => void prepareLive(),
  };
}

/**
 * A run on the virtual clock whose policies' calls are ended when they do not return.
 *
 * @param run gets the way to call policies; it is called again from the beginning, with another
 *   way, when a call of the first run was ended
 */
export function runBounded<T>(run: (call: PolicyCall) => T): T {
  const { limitMs, lookMs } = VIRTUAL;
  const watch = CallWatch.start(limitMs, lookMs);
  if (watch === undefined) return run(callWithin(limitMs, undefined));
  try {
    boundary ??= new Boundary();
    const end = boundary.call(() => run((ask) => watch.during(ask)));
    if (end !== undefined) return end.value;
    boundary.call(() => watch.close());
    return run(callWithin(limitMs, watch));
  } finally {
    watch.stop();
  }
}
