/** Readable numbers. A missing one is a dash. */

const DASH = '–';

export function formatCount(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  if (size >= 1e6) return `${significant(value / 1e6)} M`;
  if (size >= 1e4) return `${significant(value / 1e3)} k`;
  return size >= 100 || Number.isInteger(value) ? String(Math.round(value)) : significant(value);
}

/** A duration in the most readable unit. */
export function readableMs(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return DASH;
  const size = Math.abs(ms);
  if (size >= 60_000) return `${significant(ms / 60_000)} min`;
  if (size >= 1_000) return `${significant(ms / 1_000)} s`;
  if (size >= 1 || size === 0) return `${significant(ms)} ms`;
  return `${significant(ms * 1_000)} µs`;
}

export function formatUs(us: number | null | undefined): string {
  return readableMs(us == null ? us : us / 1_000);
}

export function readableShare(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 1 ? '<1' : String(Math.round(percent))} %`;
}

/** `1 engine`, `2 engines`. */
export function formatOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function significant(value: number): string {
  return String(Number(value.toPrecision(3)));
}
