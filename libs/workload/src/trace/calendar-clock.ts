import type { Micros } from '@baton/kernel';
import { digits } from './csv-fields';
import { parseTimestamp } from './timestamp';

const MINUTE_LENGTH = 16;
const SECOND_LENGTH = 19;
const US_PER_SECOND = 1_000_000;
const DOT = '.';
const COLON = ':';
/** Its parts are where the quick reading looks for them. */
const USUAL = /^.{16}:\d{2}(?:\.\d{1,9})?(?:$|[^\d.,])/;

/**
 * Reads the calendar times of one file quickly. Most times have the same minute as the previous
 * one, so only their seconds are parsed. `parseTimestamp` parses the others and defines which times
 * are valid.
 */
export class CalendarClock {
  /**
   * Of the last time: its minute (`2023-11-16 18:15`), the text after its decimals (`+00:00`), and
   * the instant at which that minute began.
   */
  private minute = 'none';
  private offset = '';
  private minuteUs: Micros = 0;

  /** µs since 1970. NaN for an invalid time. */
  read(text: string): Micros {
    if (text.startsWith(this.minute) && text[MINUTE_LENGTH] === COLON) {
      const secondUs = this.secondUs(text);
      if (secondUs >= 0) return this.minuteUs + secondUs;
    }
    const time = parseTimestamp(text);
    if (time === undefined) return NaN;
    if (!USUAL.test(text)) return time.seconds * US_PER_SECOND + Math.round(time.nanos / 1_000);
    this.minute = text.slice(0, MINUTE_LENGTH);
    this.offset = text.slice(decimalsEnd(text));
    this.minuteUs = (time.seconds - digits(text, MINUTE_LENGTH + 1, SECOND_LENGTH)) * US_PER_SECOND;
    return time.seconds * US_PER_SECOND + Math.round(time.nanos / 1_000);
  }

  /** µs within the minute, when the rest of the text has the usual form; else -1. */
  private secondUs(text: string): Micros {
    const second = digits(text, MINUTE_LENGTH + 1, SECOND_LENGTH);
    if (!(second >= 0 && second < 60) || text.length < SECOND_LENGTH) return -1;
    const end = decimalsEnd(text);
    if (!text.endsWith(this.offset) || end + this.offset.length !== text.length) return -1;
    const places = end - SECOND_LENGTH - 1;
    if (end === SECOND_LENGTH) return second * US_PER_SECOND;
    if (places < 1 || places > 9) return -1;
    const fraction = digits(text, SECOND_LENGTH + 1, end);
    return second * US_PER_SECOND + Math.round((fraction / 10 ** places) * US_PER_SECOND);
  }
}

/** Position after the decimals of the seconds, or after the seconds when there are none. */
function decimalsEnd(text: string): number {
  if (text[SECOND_LENGTH] !== DOT) return SECOND_LENGTH;
  let end = SECOND_LENGTH + 1;
  while (end < text.length && text[end]! >= '0' && text[end]! <= '9') end += 1;
  return end;
}
