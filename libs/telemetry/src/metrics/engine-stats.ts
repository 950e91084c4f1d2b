import type { HistogramSnapshot } from '@baton/contract';
import {
  BATON_COUNTERS,
  BATON_HISTOGRAMS,
  type BATON_OPTIONAL_COUNTERS,
  KV_FETCHES,
  KV_RELEASES,
  type UPSTREAM_OUTCOMES,
} from './baton-families';
import { BucketCounts } from './bucket-counts';
import { tokensUpTo } from './buckets';
import {
  afterPrefix,
  counterKey,
  type CounterKeyOf,
  type HistogramKeyOf,
  type HistogramRow,
} from './engine-family';
import {
  PROMPT_SOURCES,
  VLLM_COUNTERS,
  VLLM_HISTOGRAMS,
  type VLLM_OPTIONAL_COUNTERS,
} from './vllm-families';

type ValueOf<T> = T[keyof T];

/** The names of an engine's counters in its presence. */
export type CounterKey =
  | CounterKeyOf<keyof typeof VLLM_COUNTERS | keyof typeof BATON_COUNTERS>
  | ValueOf<typeof PROMPT_SOURCES>
  | ValueOf<typeof KV_RELEASES>
  | ValueOf<typeof KV_FETCHES>
  // The API shows it with the policy that placed the jobs.
  | 'placed_jobs';

/** Only engines with the feature count it. */
export type OptionalKey = CounterKeyOf<
  keyof typeof VLLM_OPTIONAL_COUNTERS | keyof typeof BATON_OPTIONAL_COUNTERS
>;

/** Counted by engines of a KV pool. */
export type PoolKey = Extract<OptionalKey, `kv_pool_${string}`>;

export type UpstreamOutcome = (typeof UPSTREAM_OUTCOMES)[number];

/** Counted by engines whose work runs on a server. */
export type UpstreamKey = `upstream_${UpstreamOutcome}` | 'upstream_retries';

const COUNTER_KEYS = [
  ...Object.keys({ ...VLLM_COUNTERS, ...BATON_COUNTERS }).map(counterKey),
  ...[PROMPT_SOURCES, KV_RELEASES, KV_FETCHES].flatMap((keys) => Object.values(keys)),
  'placed_jobs',
] as readonly CounterKey[];

const HISTOGRAMS = { ...VLLM_HISTOGRAMS, ...BATON_HISTOGRAMS };

type HistogramKey = HistogramKeyOf<keyof typeof HISTOGRAMS>;

/** The counts of one engine since its process started; they survive a rebuild of the engine. */
export class EngineStats {
  private readonly counts = Object.fromEntries(COUNTER_KEYS.map((key) => [key, 0])) as Record<
    CounterKey,
    number
  >;
  private readonly distributions = new Map<string, BucketCounts>();

  /** Events so far. */
  changes = 0;

  /** @param maxModelLen end of vLLM's token buckets */
  constructor(maxModelLen = Infinity) {
    for (const [name, row] of Object.entries<HistogramRow>(HISTOGRAMS)) {
      const buckets = row.endsAtModelLength ? tokensUpTo(maxModelLen) : row.buckets;
      this.distributions.set(afterPrefix(name), new BucketCounts(buckets));
    }
  }

  add(key: CounterKey, count = 1): void {
    this.changes += 1;
    this.counts[key] += count;
  }

  observe(key: HistogramKey, value: number): void {
    this.changes += 1;
    this.distributions.get(key)!.observe(value);
  }

  count(key: CounterKey): number {
    return this.counts[key];
  }

  counters(): Record<string, number> {
    return { ...this.counts };
  }

  histograms(): Record<string, HistogramSnapshot> {
    const all = [...this.distributions].map(([key, counts]) => [key, counts.snapshot()]);
    return Object.fromEntries(all) as Record<string, HistogramSnapshot>;
  }
}
