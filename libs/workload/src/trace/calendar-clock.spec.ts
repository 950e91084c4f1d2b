import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CalendarClock } from './calendar-clock';
import { parseTimestamp } from './timestamp';

describe('CalendarClock', () => {
  const two = (most: number): fc.Arbitrary<string> =>
    fc.nat(most).map((n) => String(n).padStart(2, '0'));
  /**
   * Times that are close together, some of them invalid, so that both the short way and the full
   * parse run.
   */
  const times = fc
    .tuple(
      two(1),
      two(2),
      two(61),
      fc.constantFrom('', '.', '.5', ',5', '.123456789', '.1234567890'),
    )
    .map(([hour, minute, second, decimals]) => `2024-02-29 ${hour}:${minute}:${second}${decimals}`);
  const offsets = fc.constantFrom(
    '',
    '',
    '',
    'Z',
    '+00:00',
    '+01:00',
    '+25:00',
    ' ',
    ' UTC',
    '+0100',
    ' +01',
    ',7',
  );
  const texts = fc.tuple(times, offsets).map(([time, offset]) => `${time}${offset}`);
  const cut = fc.tuple(texts, fc.nat(30)).map(([text, length]) => text.slice(0, length));

  it('agrees with parseTimestamp after any previous times', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(texts, texts, cut), { maxLength: 50 }), (all) => {
        const clock = new CalendarClock();
        for (const text of all) {
          const time = parseTimestamp(text);
          const us = time === undefined ? NaN : time.seconds * 1e6 + Math.round(time.nanos / 1e3);
          expect([text, clock.read(text)]).toEqual([text, us]);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
