import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HistogramSnapshot } from '@baton/contract';
import {
  type Aggregator,
  AggregatorRegistry,
  type Metric,
  Registry,
  type RegistryContentType,
} from 'prom-client';
import { boundLabel } from './bucket-counts';

export type Labels = Readonly<Record<string, string>>;

/** One sample of a family. */
export interface MetricSample {
  readonly labels: Labels;
  readonly value: number;
  /** With `_bucket`, `_sum` or `_count`. Unset: the name of the family. */
  readonly metricName?: string;
}

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped' | 'unknown';
  /** How the values that several processes have for one series become one. Unset: their sum. */
  readonly aggregator?: Aggregator;
}

/** One family, as prom-client's `get()` returns it. */
export interface MetricFamily extends FamilyHead {
  readonly aggregator: Aggregator;
  readonly values: readonly MetricSample[];
}

export function familyOf(head: FamilyHead, values: readonly MetricSample[]): MetricFamily {
  return { aggregator: 'sum', ...head, values };
}

/** A registry for a process whose requests have traces: its histograms take exemplars. */
export function registryWithExemplars(): Registry {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry as Registry;
}

export function hasExemplars({ contentType }: Registry<RegistryContentType>): boolean {
  return contentType === Registry.OPENMETRICS_CONTENT_TYPE;
}

/** A metric of the registry whose samples are read at each scrape. */
export function readAtScrape(
  registry: Registry<RegistryContentType>,
  { read, ...head }: FamilyHead & { readonly read: () => readonly MetricSample[] },
): void {
  const metric = { ...head, get: () => Promise.resolve(familyOf(head, read())) };
  registry.registerMetric(metric as unknown as Metric);
}

/** Like `readAtScrape`, for a single number; undefined: there is none. */
export function readNumber(
  registry: Registry,
  { read, ...head }: FamilyHead & { readonly read: () => number | undefined },
): void {
  readAtScrape(registry, {
    ...head,
    read: () => {
      const value = read();
      return value === undefined ? [] : [{ labels: {}, value }];
    },
  });
}

/**
 * All families of the registry, with bounds as Python's client writes them. Of processes that share
 * a port, prom-client leaves out the start; here it is that of the first.
 *
 * @param labelsOf the labels that take the place of an `engine_id`; other engines are left out
 */
export async function familiesOf(
  registry: Registry,
  labelsOf: ReadonlyMap<string, Labels> = new Map(),
): Promise<MetricFamily[]> {
  const families = (await registry.getMetricsAsJSON()) as unknown as MetricFamily[];
  const shown = (sample: MetricSample): MetricSample[] => {
    const { le, engine_id: engineId, ...own } = sample.labels;
    if (le === undefined && engineId === undefined) return [sample];
    const ofEngine = engineId === undefined ? {} : labelsOf.get(engineId);
    if (ofEngine === undefined) return [];
    const labels = { ...ofEngine, ...own, ...(le !== undefined && { le: boundLabel(le) }) };
    return [{ ...sample, labels }];
  };
  return families.map((family) => ({
    ...family,
    aggregator: family.aggregator === 'omit' ? 'min' : family.aggregator,
    values: family.values.flatMap(shown),
  }));
}

/** The samples of a histogram of this name. */
export function histogramSamples(
  name: string,
  { le, counts, sum, count }: HistogramSnapshot,
): MetricSample[] {
  const buckets = [...le, '+Inf'].map((bound, i) => ({
    metricName: `${name}_bucket`,
    labels: { le: boundLabel(bound) },
    value: counts[i] ?? 0,
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}

/** One list of the families that several processes have. */
export function mergedFamilies(all: readonly (readonly MetricFamily[])[]): readonly MetricFamily[] {
  const merged: unknown = AggregatorRegistry.aggregate([...all]).getMetricsAsArray();
  return merged as MetricFamily[];
}

/** Time that a page may take of one turn of the event loop, in ms. */
const TURN_MS = 10;

/**
 * The families as a page; each name is in one of the lists, or in several.
 *
 * @param contentType Prometheus' text format, or OpenMetrics, which alone shows exemplars; those of
 * a family in several lists are lost
 */
export async function exposed(
  lists: readonly (readonly MetricFamily[])[],
  contentType: RegistryContentType = Registry.PROMETHEUS_CONTENT_TYPE,
): Promise<string> {
  const isOpen = contentType === Registry.OPENMETRICS_CONTENT_TYPE;
  return isOpen
    ? `${await textOf(
        lists.map((list) => list.map(inOpenMetrics)),
        contentType,
      )}# EOF\n`
    : textOf(lists, contentType);
}

/** OpenMetrics names a counter without the suffix of its samples. */
function inOpenMetrics(family: MetricFamily): MetricFamily {
  if (family.type === 'untyped') return { ...family, type: 'unknown' };
  if (family.type !== 'counter') return family;
  return { ...family, name: family.name.replace(/_total$/, '') };
}

async function textOf(
  all: readonly (readonly MetricFamily[])[],
  contentType: RegistryContentType,
): Promise<string> {
  const lists = new Map<string, number>();
  for (const { name } of all.flat()) lists.set(name, (lists.get(name) ?? 0) + 1);
  const isShared = ({ name }: MetricFamily): boolean => lists.get(name) !== 1;
  const shared = all.map((list) => list.filter(isShared));
  const page = AggregatorRegistry.aggregate<RegistryContentType>(shared);
  page.setContentType(contentType);
  for (const family of all.flat()) {
    if (!isShared(family)) readAtScrape(page, { ...family, read: () => family.values });
  }
  const texts: string[] = [];
  let turnMs = performance.now();
  for (const { name } of page.getMetricsAsArray()) {
    texts.push(await page.getSingleMetricAsString(name));
    if (performance.now() - turnMs < TURN_MS) continue;
    await nextTurn();
    turnMs = performance.now();
  }
  return `${texts.join('\n')}\n`;
}
