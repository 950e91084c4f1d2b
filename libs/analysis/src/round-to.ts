/**
 * `value` with so many decimals; null for what is no finite number, which JSON does not have
 * either.
 */
export function roundTo(value: number, decimals: number): number | null {
  if (!Number.isFinite(value)) return null;
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale;
}
