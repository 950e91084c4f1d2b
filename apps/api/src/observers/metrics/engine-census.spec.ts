import type { EnginePresence } from '@baton/contract';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ClusterView, EnginesListener } from '../../cluster/cluster-view';
import { EngineCensus } from './engine-census';

function presence(engineId: string, stage: EnginePresence['stage']): EnginePresence {
  return { engineId, stage, state: 'ready' } as EnginePresence;
}

function secondsOf(page: string, stage: string): number {
  const [, value] = page.match(`engine_seconds_total{stage="${stage}"} (.*)`) ?? [];
  return Number(value);
}

describe('the census of engines', () => {
  afterEach(() => vi.restoreAllMocks());

  it('sums the seconds of all engines of a stage, until they leave', async () => {
    let nowMs = 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    let tell: EnginesListener = () => undefined;
    const cluster = { onEngines: (listener: EnginesListener) => (tell = listener) };
    const registry = new Registry();
    new EngineCensus({ ...cluster, hasLost: () => false } as unknown as ClusterView, registry);
    tell([presence('a', 'prefill'), presence('b', 'prefill'), presence('c', 'decode')]);
    const after = async (ms: number): Promise<number[]> => {
      nowMs += ms;
      const page = await registry.metrics();
      return ['prefill', 'decode', 'aggregated'].map((stage) => secondsOf(page, stage));
    };
    expect(await after(10_000)).toEqual([20, 10, 0]);
    tell([]);
    expect(await after(10_000)).toEqual([20, 10, 0]);
  });
});
