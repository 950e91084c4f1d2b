import { describe, expect, it } from 'vitest';
import { sinceText } from './since-text';

describe('the start of a finding', () => {
  it('counts from the start of a recorded run, in every time zone', () => {
    expect(sinceText(5_000, 17_200, true)).toBe('since 5 s (12 s)');
    expect(sinceText(90_000, 90_000, true)).toBe('since 1.5 min (0 ms)');
  });

  it('is a time of day on the live page', () => {
    expect(sinceText(1_750_000_000_000, 1_750_000_002_000, false)).toMatch(
      /^since \d\d:\d\d:\d\d \(2 s\)$/,
    );
  });
});
