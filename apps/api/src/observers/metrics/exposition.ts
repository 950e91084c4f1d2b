import type { HistogramSnapshot } from '@baton/contract';
import { boundLabel } from '@baton/telemetry';

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
  const lines = series.map(({ labels, value }) => line(head.name, labels, value));
  return family(head, type, lines);
}

export function renderHistogram(
  head: FamilyHead,
  series: readonly MetricSeries<HistogramSnapshot>[],
): string {
  return family(
    head,
    'histogram',
    series.flatMap(({ labels, value }) => [
      ...[...value.le.map(boundLabel), '+Inf'].map((le, i) =>
        line(`${head.name}_bucket`, { le, ...labels }, value.counts[i] ?? 0),
      ),
      line(`${head.name}_sum`, labels, value.sum),
      line(`${head.name}_count`, labels, value.count),
    ]),
  );
}

/** One summary without quantiles: a sum and a count. */
export function renderSummary(
  head: FamilyHead,
  series: readonly MetricSeries<{ readonly sum: number; readonly count: number }>[],
): string {
  const lines = series.flatMap(({ labels, value }) => [
    line(`${head.name}_sum`, labels, value.sum),
    line(`${head.name}_count`, labels, value.count),
  ]);
  return family(head, 'summary', lines);
}

function family({ name, help }: FamilyHead, type: string, lines: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escape(text)}"`);
  return pairs.length === 0 ? `${name} ${value}` : `${name}{${pairs.join(',')}} ${value}`;
}

function escape(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
