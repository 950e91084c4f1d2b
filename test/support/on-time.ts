import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const RUNS = 8;
/** One pause of this length can decide a comparison of times. */
export const LONG_PAUSE_MS = 250;

/** A run that compares live with expected times. */
export interface TimedRun {
  /** Throws when the times differ from those expected. */
  readonly check: () => void;
  /** The reason why the times are not reliable; null when they are. */
  readonly void: string | null;
}

/**
 * Makes runs until the checks of one hold, or fail though the run is not void. Lateness can only
 * add to an error, so a late run whose checks hold is good as well. It makes at most 8 runs.
 *
 * @throws Error with the word "void" when every run is void and fails.
 */
export async function untilNotVoid(run: () => Promise<TimedRun>): Promise<void> {
  const reasons: string[] = [];
  while (reasons.length < RUNS) {
    const { check, void: reason } = await run();
    try {
      return check();
    } catch (error) {
      if (reason === null) throw error;
      reasons.push(`${reason}: ${String(error)}`);
    }
  }
  throw new Error(`void, ${RUNS} times:\n${reasons.join('\n')}`);
}

/**
 * The same for times that this process takes: the run is void when the median timer is later than
 * this, or one of them by a long pause. A run may have a further reason.
 */
export function onTime(
  mostLateMs: number,
  run: () => Promise<TimedRun | TimedRun['check']>,
): Promise<void> {
  return untilNotVoid(async () => {
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    const result = await run();
    delay.disable();
    const timed = typeof result === 'function' ? { check: result, void: null } : result;
    const lateMs = (ns: number): number => ns / 1e6 - RESOLUTION_MS;
    const [median, worst] = [lateMs(delay.percentile(50)), lateMs(delay.max)];
    let reason = timed.void;
    if (median > mostLateMs) reason ??= `half of the timers were over ${median.toFixed(1)} ms late`;
    if (worst > LONG_PAUSE_MS) reason ??= `a timer was ${worst.toFixed(0)} ms late`;
    return { ...timed, void: reason };
  });
}
