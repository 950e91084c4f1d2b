import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { Placer, type PlacerSpec, SHARED_QUEUE } from './placer';
import { engineView, idleEngines, placementContext } from '../../test/test-context';

const PULL: PlacerSpec = {
  prefill: 'pull',
  decode: 'pull',
  decodeChoice: 'late',
  disaggregationThreshold: 0,
};
const ROUND_ROBIN = { kind: 'round-robin' } as const;

const build = (spec: Partial<PlacerSpec>) => new Placer({ ...PULL, ...spec }, RandomStream.root(1));

const prefill = placementContext({ engines: idleEngines(2) });
const decode = placementContext({ engines: idleEngines(3), stage: 'decode' });

describe('Placer', () => {
  it('leaves every choice to the engines under pull', () => {
    const placer = build({});
    expect(placer.atArrival(prefill, decode)).toEqual({
      kind: 'disaggregated',
      prefill: SHARED_QUEUE,
      decode: SHARED_QUEUE,
    });
    expect(placer.atHandoff(decode)).toBe(SHARED_QUEUE);
    expect(placer.onAggregated(prefill)).toBe(SHARED_QUEUE);
  });

  it('chooses both engines at arrival when decode is chosen early', () => {
    const placer = build({ prefill: ROUND_ROBIN, decode: ROUND_ROBIN, decodeChoice: 'early' });
    const choices = [1, 2, 3, 4].map(() => placer.atArrival(prefill, decode));
    expect(choices.map((choice) => choice.prefill)).toEqual([0, 1, 0, 1]);
    expect(choices.map((choice) => choice.decode)).toEqual([0, 1, 2, 0]);
  });

  it('chooses decode at hand-over when it is chosen late', () => {
    const placer = build({ prefill: ROUND_ROBIN, decode: ROUND_ROBIN });
    expect(placer.atArrival(prefill, decode).decode).toBe(SHARED_QUEUE);
    expect([1, 2, 3, 4].map(() => placer.atHandoff(decode))).toEqual([0, 1, 2, 0]);
  });

  it('chooses prefill alone in the same turns as both', () => {
    const placer = build({ prefill: ROUND_ROBIN });
    expect(placer.onPrefill(prefill)).toBe(0);
    expect(placer.atArrival(prefill, decode).prefill).toBe(1);
    expect(build({}).onPrefill(prefill)).toBe(SHARED_QUEUE);
  });

  it('has turns of its own for aggregated engines', () => {
    const placer = build({ prefill: ROUND_ROBIN });
    placer.atArrival(prefill, decode);
    expect(placer.onAggregated(prefill)).toBe(0);
  });

  it('keeps a prompt with a short uncached rest on its decode engine', () => {
    const busy = [
      engineView({ engineId: 'a', requests: 2 }),
      engineView({ engineId: 'b', requests: 1 }),
    ];
    const placer = build({ decode: { kind: 'least-requests' }, disaggregationThreshold: 512 });
    const at = (cached: number) =>
      placer.atArrival(
        prefill,
        placementContext({ engines: busy, stage: 'decode', cached: { b: cached } }),
      );
    expect(at(488)).toEqual({ kind: 'local', prefill: SHARED_QUEUE, decode: 1 });
    expect(at(487).kind).toBe('disaggregated');
  });

  it('counts no cache under pull, because the engine is unknown', () => {
    const placer = build({ disaggregationThreshold: 1_000 });
    expect(placer.atArrival(prefill, decode)).toMatchObject({ kind: 'local', decode: -1 });
    expect(build({ disaggregationThreshold: 999 }).atArrival(prefill, decode).kind).toBe(
      'disaggregated',
    );
  });
});
