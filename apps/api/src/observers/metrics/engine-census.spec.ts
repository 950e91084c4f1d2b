import type { EnginePresence } from '@baton/contract';
import { describe, expect, it } from 'vitest';
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
  it('sums the seconds of all engines of a stage, until they leave', () => {
    let tell: EnginesListener = () => undefined;
    const cluster = { onEngines: (listener: EnginesListener) => (tell = listener) };
    const census = new EngineCensus({ ...cluster, hasLost: () => false } as unknown as ClusterView);
    tell([presence('a', 'prefill'), presence('b', 'prefill'), presence('c', 'decode')]);
    const fromMs = performance.now();
    const stages = ['prefill', 'decode', 'aggregated'];
    const at = (ms: number): number[] => {
      const page = census.render(fromMs + ms);
      return stages.map((stage) => secondsOf(page, stage));
    };
    const before = at(0);
    const after = at(10_000).map((seconds, i) => seconds - before[i]!);
    expect(after.map((seconds) => Math.round(seconds * 1e6) / 1e6)).toEqual([20, 10, 0]);
    tell([]);
    expect(at(30_000)).toEqual(at(20_000));
  });
});
