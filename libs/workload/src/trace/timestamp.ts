/** An instant in UTC: whole seconds since 1970, and nanoseconds within the second. */
export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

const DAY = /(\d{4})[-/](\d{1,2})[-/](\d{1,2})/;
const CLOCK = /(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?/;
const OFFSET = /Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?/;
const SHAPE = new RegExp(`^${DAY.source}[ Tt]${CLOCK.source}(?: ?(${OFFSET.source}))?$`);
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads `2023-11-16 18:15:46.6805900` and the same as spreadsheets and data frames write it: a `T`,
 * slashes, a decimal comma, single digits, up to nine decimals, and an offset (`Z`, `UTC`,
 * `+00:00`, `+0000`, `+00`) with or without a space. A time without offset is UTC. Undefined for
 * any other text, including dates that do not exist, and those that begin with a day or a month.
 */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = offsetSeconds(match[8] ?? 'Z');
  if (offset === undefined) return undefined;
  const clock = hour * 3600 + minute * 60 + second;
  return {
    seconds: daysSince1970(year, month, day) * 86_400 + clock - offset,
    nanos: Number((match[7] ?? '').padEnd(9, '0')),
  };
}

function offsetSeconds(offset: string): number | undefined {
  if (/^[A-Za-z]/.test(offset)) return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

function daysIn(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);
}

/** Days of the proleptic Gregorian calendar. */
function daysSince1970(year: number, month: number, day: number): number {
  let days = day - 1;
  for (let m = 1; m < month; m += 1) days += daysIn(year, m);
  return days + daysBefore(year) - daysBefore(1970);
}

/** Days from 1 January of year 1 to 1 January of `year`. */
function daysBefore(year: number): number {
  const y = year - 1;
  return y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
}
