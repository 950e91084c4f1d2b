const US_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;
const NOTHING = '–';

/** `12,031`; fractions have three significant digits. */
export function formatNumber(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return NOTHING;
  if (Number.isInteger(value) || Math.abs(value) >= 1_000) return grouped(Math.round(value));
  return threeDigits(value);
}

/** Milliseconds in the most readable unit: `850 µs`, `12.3 ms`, `1.52 s`, `12.4 min`. */
export function formatMs(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return NOTHING;
  if (ms === 0) return '0 ms';
  const [unit, length] = msUnit(ms);
  return `${threeDigits(ms / length)} ${unit}`;
}

/** Name and milliseconds of the most readable unit. */
function msUnit(ms: number): readonly [name: string, ms: number] {
  if (ms > 0 && ms < 0.9995) return ['µs', 1 / US_PER_MS];
  if (ms < 999.5) return ['ms', 1];
  const isShort = ms < 10 * SECONDS_PER_MINUTE * MS_PER_SECOND;
  return isShort ? ['s', MS_PER_SECOND] : ['min', SECONDS_PER_MINUTE * MS_PER_SECOND];
}

type Ends = readonly [low: number, high: number] | null | undefined;

/** `[190, 241]`, in the unit of the figure in `formatMs`. Empty without an interval. */
export function formatMsInterval(ms: number | null, interval: Ends): string {
  if (ms === null || !interval) return '';
  const length = msUnit(ms)[1];
  return bracketed(interval, (end) => threeDigits(end / length));
}

/** `12 [11.1, 12.9]`; only the figure without an interval. */
export function formatWithInterval(value: number | null, interval: Ends): string {
  const ends = interval ? ` ${bracketed(interval, formatNumber)}` : '';
  return `${formatNumber(value)}${ends}`;
}

/** `97.3 % [95.1, 98.4]`, from shares in 0..1. */
export function formatShareWithInterval(share: number | null, interval: Ends): string {
  const ends = interval ? ` ${bracketed(interval, (end) => threeDigits(end * 100))}` : '';
  return `${formatShare(share)}${ends}`;
}

function bracketed([low, high]: NonNullable<Ends>, format: (end: number) => string): string {
  return `[${format(low)}, ${format(high)}]`;
}

/** `0.61 s`, `59 min`. More than two hours are also in minutes, which are easier to add up. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return NOTHING;
  if (seconds < 10 * SECONDS_PER_MINUTE) return `${threeDigits(seconds)} s`;
  return `${threeDigits(seconds / SECONDS_PER_MINUTE)} min`;
}

/** `97.3 %`, from a share in 0..1. */
export function formatShare(share: number | null): string {
  return share === null || !Number.isFinite(share) ? NOTHING : `${threeDigits(share * 100)} %`;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'] as const;

/** `12.3 GB`, decimal units. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${threeDigits(value)} ${BYTE_UNITS[unit]}`;
}

function threeDigits(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) >= 1_000 ? grouped(Math.round(value)) : String(rounded);
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
