import type { HistogramSnapshot } from '@baton/contract';
import { BucketCounts } from './bucket-counts';
import { tokensUpTo } from './buckets';
import {
  COUNTER_KEYS,
  type CounterKey,
  ENGINE_METRICS,
  HISTOGRAM_KEYS,
  type HistogramKey,
} from './families';

/** The counts of one engine since its process started; they survive a rebuild of the engine. */
export class EngineStats {
  private readonly counts: Record<CounterKey, number>;
  private readonly distributions: Record<HistogramKey, BucketCounts>;

  /** @param maxModelLen end of vLLM's token buckets */
  constructor(maxModelLen = Infinity) {
    this.counts = keyed(COUNTER_KEYS, () => 0);
    this.distributions = keyed(
      HISTOGRAM_KEYS,
      (key) => new BucketCounts(bucketsOf(key, maxModelLen)),
    );
  }

  /** Events so far. */
  changes = 0;

  add(key: CounterKey, count = 1): void {
    this.changes += 1;
    this.counts[key] += count;
  }

  observe(key: HistogramKey, value: number): void {
    this.changes += 1;
    this.distributions[key].observe(value);
  }

  count(key: CounterKey): number {
    return this.counts[key];
  }

  counters(): Record<string, number> {
    return { ...this.counts };
  }

  histograms(): Record<string, HistogramSnapshot> {
    return keyed(HISTOGRAM_KEYS, (key) => this.distributions[key].snapshot());
  }
}

function keyed<K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, V>;
}

function bucketsOf(key: HistogramKey, maxModelLen: number): readonly number[] {
  const family = ENGINE_METRICS.find((each) => each.kind === 'histogram' && each.key === key);
  if (family?.kind !== 'histogram') return [];
  return family.endsAtModelLength ? tokensUpTo(maxModelLen) : family.buckets;
}
