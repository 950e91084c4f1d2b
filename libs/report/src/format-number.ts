const US_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;
const NOTHING = '–';

/** `12,031`; fractions with three significant digits. */
export function formatNumber(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return NOTHING;
  if (Number.isInteger(value) || Math.abs(value) >= 1_000) return grouped(Math.round(value));
  return threeDigits(value);
}

/** Milliseconds in the unit that reads best: `850 µs`, `12.3 ms`, `1.52 s`, `12.4 min`. */
export function formatMs(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return NOTHING;
  if (ms === 0) return '0 ms';
  if (ms < 0.9995) return `${threeDigits(ms * US_PER_MS)} µs`;
  if (ms < 999.5) return `${threeDigits(ms)} ms`;
  return formatSeconds(ms / MS_PER_SECOND);
}

/** `0.61 s`, `59 min`; more than two hours stay minutes, which add up more easily. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return NOTHING;
  if (seconds < 10 * SECONDS_PER_MINUTE) return `${threeDigits(seconds)} s`;
  return `${threeDigits(seconds / SECONDS_PER_MINUTE)} min`;
}

/** `97.3 %`, of a share in 0..1. */
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
