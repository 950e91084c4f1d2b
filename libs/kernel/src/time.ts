/**
 * Integer microseconds: an instant on some timeline, or a span. Names of such values end in `Us`.
 */
export type Micros = number;

/**
 * An instant that has not come yet, before all others. A field that begins with it holds doubles
 * from the start. With 0 V8 compiles all its readers anew after 2^31 µs, 36 minutes of a run.
 */
export const NOT_YET: Micros = -Infinity;

/**
 * A source of time. The live driver reads the machine, the virtual one its event queue, a test a
 * time that it sets.
 */
export interface Clock {
  /** The current instant; never before an earlier result. */
  nowUs(): Micros;
}

const US_PER_MS = 1_000;
const US_PER_SECOND = 1_000_000;

/** Milliseconds to the nearest whole microsecond. */
export function msToUs(ms: number): Micros {
  return Math.round(ms * US_PER_MS);
}

/** Seconds to the nearest whole microsecond. */
export function secondsToUs(seconds: number): Micros {
  return Math.round(seconds * US_PER_SECOND);
}

/** Microseconds to milliseconds, with the fraction. */
export function usToMs(us: Micros): number {
  return us / US_PER_MS;
}

/** Microseconds to seconds, with the fraction. */
export function usToSeconds(us: Micros): number {
  return us / US_PER_SECOND;
}
