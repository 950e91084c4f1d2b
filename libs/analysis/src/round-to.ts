/**
 * `value` rounded to this many decimals. Null for a number that is not finite, which JSON cannot
 * hold.
 */
export function roundTo(value: number, decimals: number): number | null {
  if (!Number.isFinite(value)) return null;
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale;
}
