import { type BatonConfig, defaultConfig } from './config';
import { UsageError } from './usage-error';
import { describe, expect, it } from 'vitest';
import { configuredAutoscaler } from './configured-autoscaler';

const START = { prefill: 1, decode: 1, aggregated: 0 };

function configure(part: Partial<BatonConfig>) {
  return configuredAutoscaler(
    { ...defaultConfig(), autoscaler: 'hpa:waiting', max: '2P2D', ...part },
    START,
  );
}

describe('the age of metrics', () => {
  it('is refused beyond 1,000 intervals, whose scrapes are not kept', () => {
    const refused = { scaleInterval: 0.1, scaleMetricsAge: 3_600 };
    expect(() => configure(refused)).toThrow(UsageError);
    expect(() => configure(refused)).toThrow(
      'scale_metrics_age 3600 s is more than 1000 intervals of the autoscaler (100 s). ' +
        'Reduce it, or increase scale_interval.',
    );
    expect(() => configure({ ...refused, autoscaler: 'hpa:waiting:interval=4s' })).not.toThrow();
  });

  it('is followed up to 1,000 intervals', () => {
    const scaling = configure({ scaleInterval: 0.1, scaleMetricsAge: 100 })!;
    const autoscaler = scaling.create();
    const totals = {
      arrived: 0,
      finished: 0,
      promptTokens: 0,
      outputTokens: 0,
      ttft: { sumSeconds: 0, count: 0 },
      itl: { sumSeconds: 0, count: 0 },
      e2el: { sumSeconds: 0, count: 0 },
    };
    const engine = { state: 'ready', running: 0, waiting: 0, kvUsage: 0 } as const;
    const engines = [
      { ...engine, engineId: 'p', role: 'prefill' },
      { ...engine, engineId: 'd', role: 'decode' },
    ] as const;
    const decided = Array.from({ length: 1_300 }, (_, i) => {
      const queued = { prefill: 100, decode: 0, aggregated: 0 };
      const atUs = i * scaling.intervalUs;
      return autoscaler.decide({ atUs, engines: [...engines], queued, totals }).length > 0;
    });
    expect(decided.indexOf(true)).toBe(1_000);
    expect(decided.slice(1_100)).toContain(true);
  });
});
