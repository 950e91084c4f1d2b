import type { BatonConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { type FamilyHead, histogramSamples, type MetricSample } from './registry';

export interface EngineMetricsSource {
  readonly config: BatonConfig;
  /** The longest sequence, in tokens. */
  readonly maxModelLen: number;
}

/** One family of engines, read from the numbers that an engine publishes. */
export interface EngineFamily extends FamilyHead {
  /** The first y of vLLM 0.y that has the family. Unset: all have it. */
  readonly sinceMinor?: number;
  /** The samples of one engine, without the labels of the engine. */
  readonly samples: (engine: EnginePresence, source: EngineMetricsSource) => MetricSample[];
}

/** Help texts by name. */
type Helps = Readonly<Record<string, string>>;

/** A counter's key in the presence is its name without prefix and `_total`. */
export type CounterKeyOf<Name extends string> = Name extends `${string}:${infer Key}_total`
  ? Key
  : never;

/** A histogram's key in the presence is its name without prefix. */
export type HistogramKeyOf<Name extends string> = Name extends `${string}:${infer Key}`
  ? Key
  : never;

export interface HistogramRow {
  readonly help: string;
  readonly buckets: readonly number[];
  /** vLLM ends these buckets at `max_model_len`. */
  readonly endsAtModelLength?: true;
  readonly sinceMinor?: number;
}

type Reading = (engine: EnginePresence, source: EngineMetricsSource) => number | undefined;

/** A gauge without labels of its own; undefined when this engine has none. */
export function gauge(name: string, help: string, read: Reading): EngineFamily {
  return {
    name,
    help,
    type: 'gauge',
    samples: (engine, source) => samplesOf(read(engine, source)),
  };
}

/** One series for each value of `label`. */
export function gaugeBy<Value extends string>(
  head: { readonly name: string; readonly help: string; readonly sinceMinor?: number },
  label: string,
  reads: Readonly<Record<Value, Reading>>,
): EngineFamily {
  const all = Object.entries<Reading>(reads);
  return {
    ...head,
    type: 'gauge',
    samples: (engine, source) =>
      all.flatMap(([value, read]) => samplesOf(read(engine, source), { [label]: value })),
  };
}

/** A gauge that is 1, with facts about the engine as labels. */
export function info(
  name: string,
  help: string,
  labels: (
    engine: EnginePresence,
    source: EngineMetricsSource,
  ) => MetricSample['labels'] | undefined,
): EngineFamily {
  return {
    name,
    help,
    type: 'gauge',
    samples: (engine, source) => {
      const facts = labels(engine, source);
      return facts === undefined ? [] : samplesOf(1, facts);
    },
  };
}

/** An engine that does not count one of these does not have its series. */
export function counters(helps: Helps): EngineFamily[] {
  return Object.entries(helps).map(([name, help]) => ({
    name,
    help,
    type: 'counter',
    samples: (engine) => samplesOf(engine.counters[counterKey(name)]),
  }));
}

/** One series for each value of a label, whose count has the key `keys[value]`. */
export interface LabelledCounter {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly keys: Readonly<Record<string, string>>;
}

export function counterBy({ name, help, label, keys }: LabelledCounter): EngineFamily {
  const all = Object.entries(keys);
  return {
    name,
    help,
    type: 'counter',
    samples: ({ counters: counts }) =>
      all.flatMap(([value, key]) => samplesOf(counts[key], { [label]: value })),
  };
}

/** An engine that has not counted yet has histograms of zeros. */
export function histograms(rows: Readonly<Record<string, HistogramRow>>): EngineFamily[] {
  return Object.entries(rows).map(([name, { buckets, endsAtModelLength: _ends, ...head }]) => {
    const none = { le: buckets, counts: [], sum: 0, count: 0 };
    const key = afterPrefix(name);
    return {
      name,
      ...head,
      type: 'histogram',
      samples: (engine) => histogramSamples(name, engine.histograms[key] ?? none),
    };
  });
}

export function counterKey(name: string): string {
  return afterPrefix(name).replace(/_total$/, '');
}

export function afterPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function samplesOf(value: number | undefined, labels: MetricSample['labels'] = {}): MetricSample[] {
  return value === undefined ? [] : [{ labels, value }];
}
