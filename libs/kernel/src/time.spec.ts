import { describe, expect, it } from 'vitest';
import { msToUs, secondsToUs, usToMs, usToSeconds } from './time';

describe('units of time', () => {
  it('are whole microseconds, the nearest', () => {
    expect(msToUs(1.2344)).toBe(1234);
    expect(msToUs(0.0006)).toBe(1);
    expect(secondsToUs(0.1 + 0.2)).toBe(300_000);
  });

  it('turn back into fractions of what a person reads', () => {
    expect(usToMs(1234)).toBe(1.234);
    expect(usToSeconds(1_500_000)).toBe(1.5);
  });
});
