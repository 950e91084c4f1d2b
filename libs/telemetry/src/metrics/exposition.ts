import type { HistogramSnapshot } from '@baton/contract';
import { boundLabel } from './bucket-counts';

export type Labels = Readonly<Record<string, string>>;

export interface MetricSeries<V> {
  readonly labels: Labels;
  readonly value: V;
}

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
}

/** One counter or gauge family in Prometheus' text format. */
export function renderNumbers(
  head: FamilyHead,
  type: 'counter' | 'gauge',
  series: readonly MetricSeries<number>[],
): string {
  let text = headText(head, type);
  for (const { labels, value } of series) text += `${head.name}${inBraces(labels)} ${value}\n`;
  return text;
}

export function renderHistogram(
  head: FamilyHead,
  series: readonly MetricSeries<HistogramSnapshot>[],
): string {
  const { name } = head;
  let text = headText(head, 'histogram');
  for (const { labels, value } of series) {
    const own = pairs(labels);
    const before = `${name}_bucket{${own}${own === '' ? '' : ','}le="`;
    const { counts, le } = value;
    for (const [i, bound] of boundTexts(le).entries())
      text += `${before}${bound}"} ${counts[i] ?? 0}\n`;
    text += sumAndCount(name, labels, value);
  }
  return text;
}

/** One summary without quantiles: a sum and a count. */
export function renderSummary(
  head: FamilyHead,
  series: readonly MetricSeries<{ readonly sum: number; readonly count: number }>[],
): string {
  const lines = series.map(({ labels, value }) => sumAndCount(head.name, labels, value));
  return headText(head, 'summary') + lines.join('');
}

/** Indexes by the array of bounds, which is the same for a family in each scrape. */
const knownBounds = new WeakMap<readonly number[], readonly string[]>();

function boundTexts(le: readonly number[]): readonly string[] {
  const known = knownBounds.get(le);
  if (known !== undefined) return known;
  const texts = [...le.map(boundLabel), '+Inf'];
  knownBounds.set(le, texts);
  return texts;
}

function headText({ name, help }: FamilyHead, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function sumAndCount(
  name: string,
  labels: Labels,
  { sum, count }: { readonly sum: number; readonly count: number },
): string {
  const own = inBraces(labels);
  return `${name}_sum${own} ${sum}\n${name}_count${own} ${count}\n`;
}

function inBraces(labels: Labels): string {
  const own = pairs(labels);
  return own === '' ? '' : `{${own}}`;
}

function pairs(labels: Labels): string {
  let text = '';
  for (const key in labels)
    text += `${text === '' ? '' : ','}${key}="${escape(labels[key] ?? '')}"`;
  return text;
}

const ESCAPED = /[\\"\n]/;

function escape(text: string): string {
  if (!ESCAPED.test(text)) return text;
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
