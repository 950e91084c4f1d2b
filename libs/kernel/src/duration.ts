const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * A time as Go writes it (`300ms`, `1.5s`, `1m30s`, `750us`), in the wanted unit; undefined when it
 * is none.
 */
export function parseDuration(text: string, unit: 'ms' | 's'): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)/g);
  let ms = 0;
  for (const [, count, name] of parts) ms += Number(count) * MS_PER_UNIT[name!]!;
  return Number((ms / MS_PER_UNIT[unit]!).toPrecision(12));
}
