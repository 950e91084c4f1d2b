import type { MeasuredRequest } from '@baton/workload';
import { parseTopology } from '@baton/policies';
import { describe, expect, it } from 'vitest';
import { PlacementGatherer } from './recorded-placement';

function gathered(...rows: (readonly [first?: string, second?: string])[]): PlacementGatherer {
  const places = new PlacementGatherer(rows.length);
  rows.forEach(([prefillEngine, decodeEngine], row) => {
    places.add(row, { prefillEngine, decodeEngine } as MeasuredRequest);
  });
  return places;
}

describe('the placement of recorded requests', () => {
  it('has the numbers of engines within their roles', () => {
    const places = gathered(['p', 'd'], ['q', 'd'], ['a', 'a'], ['p', 'e'], ['e', 'e'], ['x']);
    expect(places.on(parseTopology('2P2D1A'))).toEqual({
      prefill: Int16Array.of(0, 1, -1, 0, -1, -1),
      decode: Int16Array.of(0, 0, -1, 1, 1, -1),
      aggregated: Int16Array.of(-1, -1, 0, -1, -1, -1),
    });
  });

  it('is spread over fewer engines in turn', () => {
    const { decode } = gathered(['p', 'd'], ['p', 'e'], ['p', 'f']).on(parseTopology('1P2D'));
    expect(Array.from(decode)).toEqual([0, 1, 0]);
  });

  it('cannot be used with engines of other roles', () => {
    const places = gathered(['p', 'd']);
    expect(() => places.on(parseTopology('4A'))).toThrow(
      'requests ran on prefill engines, but the topology has none.',
    );
  });
});
