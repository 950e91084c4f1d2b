import { NoAnswer, type PolicyCall, type PolicyWatch } from '../placement/guarded';
import { Boundary } from './boundary';
import type { CallLimits } from './call-cell';
import { CallWatch } from './call-watch';

/** The limits of a call, and how long after them V8 ends one that the watching thread has not. */
interface Limits extends CallLimits {
  readonly graceMs: number;
}

/** A call on the live clock blocks all requests of its process. */
const LIVE: Limits = { limitMs: 50, lookMs: 10, pauseMs: 500, graceMs: 2_000 };
/**
 * On the virtual clock a call may be slow, for the same seed must give the same choices. On a busy
 * machine the thread needs seconds to look and to find the line, which V8 does not find.
 */
const VIRTUAL: Limits = { limitMs: 1_000, lookMs: 25, pauseMs: 5_000, graceMs: 60_000 };

let boundary: Boundary | undefined;

/** Each call by itself. Without a watching thread, V8 ends it, and the line is unknown. */
function callWithin({ limitMs, graceMs }: Limits, watch: CallWatch | undefined): PolicyCall {
  return (ask) => {
    boundary ??= new Boundary();
    const watching = watch?.isReady === true ? watch : undefined;
    const end =
      watching === undefined
        ? boundary.call(ask, limitMs)
        : boundary.call(() => watching.during(ask), limitMs + graceMs);
    if (end !== undefined) return end.value;
    if (watching !== undefined) boundary.call(() => watching.closeCall());
    throw new NoAnswer(limitMs, watching?.takePlace());
  };
}

/** One for all policies of the process. */
let liveCall: PolicyCall | undefined;

function prepareLive(): PolicyCall {
  return (liveCall ??= callWithin(LIVE, CallWatch.start(LIVE)));
}

/**
 * The watch of policies in a live process. Its thread starts when there is a user's policy.
 *
 * @param onDecision undefined: decisions are not timed
 */
export function liveWatch(
  onFault: PolicyWatch['onFault'],
  onDecision?: PolicyWatch['onDecision'],
): PolicyWatch {
  return {
    onFault,
    ...(onDecision && { onDecision }),
    nowMs: () => performance.now(),
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
  const watch = CallWatch.start(VIRTUAL);
  if (watch === undefined) return run(callWithin(VIRTUAL, undefined));
  try {
    boundary ??= new Boundary();
    const end = boundary.call(() => run((ask) => watch.during(ask)));
    if (end !== undefined) return end.value;
    boundary.call(() => watch.closeCall());
    return run(callWithin(VIRTUAL, watch));
  } finally {
    watch.stop();
  }
}
