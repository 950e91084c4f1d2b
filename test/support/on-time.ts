import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const RUNS = 5;

/**
 * Runs what compares live with expected times until a run is not void, and then makes the checks
 * that it gave. A run is void when this process was late itself: timers of 5 ms were late by more
 * than `mostLateMs` on average. It makes at most 5 runs.
 *
 * @throws Error with the word "void" when every run is.
 */
export async function onTime(mostLateMs: number, run: () => Promise<() => void>): Promise<void> {
  const lateMs: number[] = [];
  while (lateMs.length < RUNS) {
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    const check = await run();
    delay.disable();
    const late = delay.mean / 1e6 - RESOLUTION_MS;
    if (late <= mostLateMs) return check();
    lateMs.push(late);
  }
  const measured = lateMs.map((late) => late.toFixed(1)).join(', ');
  throw new Error(`void: timers were late by ${measured} ms on average, limit ${mostLateMs} ms`);
}
