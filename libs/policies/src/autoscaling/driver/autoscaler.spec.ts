import fc from 'fast-check';
import { formatTopology, parseEngines } from '../../placement/topology/topology';
import { describe, expect, it } from 'vitest';
import { sampleOf, type Shown } from '../../../test/test-cluster';
import type { ScalePolicy } from '../policy';
import { ROLES } from '../sample';
import { Autoscaler, changesTo, type ScaleChange } from './autoscaler';
import { checkStart, parseBounds } from './bounds';

const BOUNDS = parseBounds('1P1D', '4P6D');

function changes(wanted: string, shown: Shown): string[] {
  const counts = parseEngines(wanted);
  return changesTo({ counts }, { sample: sampleOf(shown), bounds: BOUNDS }).map(written);
}

function written(change: ScaleChange): string {
  const { kind, role, count } = change;
  return kind === 'become' ? `${count} ${role}>${change.to}` : `${kind} ${count} ${role}`;
}

describe('a decision becomes changes', () => {
  it.each<[string, string, Shown, string[]]>([
    ['engines join and leave', '3P2D', { engines: '1P4D' }, ['leave 2 decode', 'join 2 prefill']],
    ['no more than the bounds allow', '9P9D', { engines: '3P6D' }, ['join 1 prefill']],
    ['no fewer than the bounds allow', '1P', { engines: '1P2D' }, ['leave 1 decode']],
    ['engines that start count', '3P1D', { engines: '1P1D', starting: '2P' }, []],
    [
      'draining engines still hold their GPUs',
      '4P1D',
      { engines: '2P1D', draining: '1P' },
      ['join 1 prefill'],
    ],
    ['the last engine that accepts work stays', '1P1D', { engines: '1P1D', starting: '3P' }, []],
  ])('%s', (_name, wanted, shown, expected) => {
    expect(changes(wanted, shown)).toEqual(expected);
  });

  it('changes the role of engines', () => {
    const sample = sampleOf({ engines: '2P3D' });
    const decision = {
      counts: parseEngines('3P2D'),
      roleChanges: [{ from: 'decode', to: 'prefill', count: 1 } as const],
    };
    expect(changesTo(decision, { sample, bounds: BOUNDS }).map(written)).toEqual([
      '1 decode>prefill',
    ]);
  });

  it('keeps an engine that cannot change its role', () => {
    const sample = sampleOf({ engines: '4P3D' });
    const decision = {
      counts: parseEngines('5P2D'),
      roleChanges: [{ from: 'decode', to: 'prefill', count: 1 } as const],
    };
    expect(changesTo(decision, { sample, bounds: BOUNDS })).toEqual([]);
  });

  it('keeps the bounds and an engine that accepts work, for any decision', () => {
    const some = fc.integer({ min: 1, max: 6 });
    const counts = fc.record({ prefill: some, decode: some, aggregated: fc.constant(0) });
    fc.assert(
      fc.property(counts, counts, counts, (ready, starting, wanted) => {
        const sample = sampleOf({
          engines: formatTopology(ready),
          starting: formatTopology(starting),
        });
        const present = { ...ready };
        const all = { prefill: 0, decode: 0, aggregated: 0 };
        for (const role of ROLES) all[role] = ready[role] + starting[role];
        for (const change of changesTo({ counts: wanted }, { sample, bounds: BOUNDS })) {
          if (change.kind === 'leave') present[change.role] -= change.count;
          else all[change.role] += change.count;
        }
        for (const role of ['prefill', 'decode'] as const) {
          const most = Math.max(BOUNDS.max[role], ready[role] + starting[role]);
          expect(all[role]).toBeLessThanOrEqual(most);
          expect(present[role]).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});

describe('delayed metrics', () => {
  it('are the newest that are old enough', () => {
    const seen: number[] = [];
    const policy: ScalePolicy = {
      decide: ({ sample, counts }) => {
        seen.push(sample.atUs);
        return { counts };
      },
    };
    const autoscaler = new Autoscaler({ policy, bounds: BOUNDS, metricsAgeUs: 20_000_000 });
    for (const atSeconds of [0, 15, 30, 45]) autoscaler.decide(sampleOf({ atSeconds }));
    expect(seen).toEqual([0, 15_000_000]);
  });
});

describe('bounds', () => {
  it.each([
    ['2P1D', '1P4D', 'no more prefill engines in min than in max'],
    ['1P1D', '4A', 'Name the same roles in both'],
    [undefined, '4P', 'prefill and decode engines need each other'],
    [undefined, 'many', 'max: Topology "many" is not understood'],
  ])('%s to %s are refused', (min, max, sentence) => {
    expect(() => parseBounds(min, max)).toThrow(sentence);
  });

  it('begin at one engine of each role by default', () => {
    expect(formatTopology(parseBounds(undefined, '8P16D').min)).toBe('1P1D');
  });

  it('include the initial engines', () => {
    expect(() => checkStart(parseEngines('5P1D'), BOUNDS)).toThrow('5P1D is not within min 1P1D');
  });
});
