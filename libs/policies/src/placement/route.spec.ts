import { describe, expect, it } from 'vitest';
import { chooseRoute, type ClusterLoad, type StageLoad } from './route';

/** `[ready engines, waiting requests]` of prefill, decode and aggregated. */
function load(...stages: [[number, number], [number, number], [number, number]]): ClusterLoad {
  const [prefill, decode, aggregated] = stages.map(([readyEngines, waiting]) => ({
    readyEngines,
    waiting,
  }));
  const none = { readyEngines: 0, waiting: 0 };
  return {
    prefill: prefill ?? none,
    decode: decode ?? none,
    aggregated: aggregated ?? none,
  };
}

describe('chooseRoute', () => {
  it('takes the only complete route', () => {
    expect(chooseRoute(load([2, 9], [3, 9], [0, 0]))).toEqual({ kind: 'disaggregated' });
    expect(chooseRoute(load([0, 0], [0, 0], [1, 50]))).toEqual({ kind: 'aggregated' });
    expect(chooseRoute(load([2, 0], [0, 0], [1, 50]))).toEqual({ kind: 'aggregated' });
  });

  it('takes the route with fewer requests waiting per engine of its first stage', () => {
    expect(chooseRoute(load([2, 5], [3, 0], [1, 2]))).toEqual({ kind: 'aggregated' });
    expect(chooseRoute(load([2, 3], [3, 0], [1, 2]))).toEqual({ kind: 'disaggregated' });
  });

  it('takes the disaggregated one of two equal routes', () => {
    expect(chooseRoute(load([3, 1], [1, 0], [6, 2]))).toEqual({ kind: 'disaggregated' });
  });

  it('ignores requests that wait for decode', () => {
    expect(chooseRoute(load([1, 0], [1, 1_000], [1, 1]))).toEqual({ kind: 'disaggregated' });
  });

  it('lists the missing stages', () => {
    expect(chooseRoute(load([2, 0], [0, 0], [0, 0]))).toEqual({
      kind: 'none',
      missing: ['decode'],
    });
    expect(chooseRoute(load([0, 0], [1, 0], [0, 0]))).toEqual({
      kind: 'none',
      missing: ['prefill'],
    });
    expect(chooseRoute(load([0, 0], [0, 0], [0, 0]))).toMatchObject({ kind: 'none' });
  });

  it('INV-12: reads counts of the stages and no field of a request', () => {
    const asked = new Set<string>();
    const watched = (readyEngines: number, waiting: number): StageLoad =>
      new Proxy({ readyEngines, waiting, outputTokens: 7, requests: [] } as StageLoad, {
        get: (stage, name) => {
          asked.add(String(name));
          return Reflect.get(stage, name) as unknown;
        },
      });
    for (const ready of [0, 1]) {
      chooseRoute({
        prefill: watched(2, 3),
        decode: watched(ready, 1),
        aggregated: watched(1, 2),
      });
    }
    expect([...asked].sort()).toEqual(['readyEngines', 'waiting']);
  });
});
