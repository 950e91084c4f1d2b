import type { MetricFamily, MetricSample } from './registry';

const HEAD = /^# (HELP|TYPE) ([A-Za-z_:][\w:]*) (.*)$/;
const SAMPLE =
  /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([+-]?(?:[\d.]+(?:e[+-]?\d+)?|Inf)|NaN)(?: -?\d+)?$/i;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const SUFFIX = /_(bucket|sum|count)$/;

interface Growing extends MetricFamily {
  help: string;
  type: MetricFamily['type'];
  readonly values: MetricSample[];
}

/**
 * The families of a page in Prometheus' text format, in order. Invalid lines and samples without a
 * family are left out.
 */
export function parsePage(text: string): MetricFamily[] {
  const families = new Map<string, Growing>();
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = HEAD.exec(line) ?? [];
    if (kind === undefined) {
      const sample = sampleIn(line);
      const of = sample?.metricName ?? '';
      const family = families.get(of) ?? families.get(of.replace(SUFFIX, ''));
      if (sample) family?.values.push(sample);
      continue;
    }
    const family = families.get(name) ?? fresh(name);
    if (kind === 'HELP') family.help = unescaped(rest);
    else family.type = rest as Growing['type'];
    families.set(name, family);
  }
  return [...families.values()];
}

function fresh(name: string): Growing {
  return { name, help: '', type: 'untyped', aggregator: 'sum', values: [] };
}

function sampleIn(line: string): MetricSample | undefined {
  const [, metricName, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (metricName === undefined) return undefined;
  const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [
    key,
    unescaped(text),
  ]);
  return {
    metricName,
    labels: Object.fromEntries(pairs) as MetricSample['labels'],
    value: Number(value.replace(/inf/i, 'Infinity')),
  };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_all, char: string) => (char === 'n' ? '\n' : char));
}
