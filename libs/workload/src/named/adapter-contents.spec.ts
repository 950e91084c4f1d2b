import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkloadBuilder } from '../workload-builder';
import { withAdapterContents } from './adapter-contents';
import { BASE_MODEL, withMix } from './mix';
import { rowName } from './named-column';

function workloadOf(rows: readonly (readonly number[])[]) {
  const builder = new WorkloadBuilder();
  rows.forEach((ids, arrivalUs) => {
    builder.add({ arrivalUs, promptTokens: 16 * ids.length + 1, outputTokens: 1 });
    builder.addContents(ids, 0);
  });
  return builder.build();
}

describe('a workload with adapters', () => {
  it('draws adapters by their shares, and leaves the rows of the base model without one', () => {
    const workload = workloadOf(Array.from({ length: 400 }, () => [1]));
    const shares = [
      { name: 'sql', part: 1 },
      { name: BASE_MODEL, part: 1 },
    ];
    const mixed = withMix(workload, 'adapter', { shares, random: RandomStream.root(3) });
    const names = Array.from({ length: 400 }, (_, row) => rowName(mixed.adapter, row));
    expect(new Set(names)).toEqual(new Set(['sql', undefined]));
    expect(names.filter((name) => name === 'sql').length).toBeGreaterThan(150);
  });

  it('shares contents within an adapter and with no other', () => {
    const lists = fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(lists, fc.nat(), (rows, seed) => {
        const workload = workloadOf(rows);
        const shares = ['a', 'b', BASE_MODEL].map((name) => ({ name, part: 1 }));
        const random = RandomStream.root(seed);
        const mixed = withMix(workload, 'adapter', { shares, random });
        const own = withAdapterContents(mixed);
        const seen = new Map<number, string>();
        for (let row = 0; row < own.count; row++) {
          for (let at = own.contentStart[row]!; at < own.contentStart[row + 1]!; at++) {
            const of = `${rowName(own.adapter, row)} ${workload.contentIds[at]}`;
            const id = own.contentIds[at]!;
            expect(seen.get(id) ?? of).toBe(of);
            seen.set(id, of);
          }
        }
        expect(new Set(seen.values()).size).toBe(seen.size);
      }),
    );
  });

  it('is the same workload when no row has an adapter', () => {
    const workload = workloadOf([[1, 2], [1]]);
    expect(withAdapterContents(workload)).toBe(workload);
  });
});
