import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lease, LeaseTable } from './lease-table';

const byKey = (a: Lease, b: Lease): number => (a.key < b.key ? -1 : 1);

function lease(key: string, value = 'token'): Lease {
  return { key, value, ttlMs: 1_800 };
}

describe('a table of leases', () => {
  it('shows another thread exactly the kept leases', () => {
    const change = fc.record({
      key: fc.constantFrom('a', 'b', 'c', '{ü}:queue:d', ''),
      value: fc.string({ maxLength: 40, unit: 'grapheme' }),
      ttlMs: fc.nat(30_000),
      isKept: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const own = new LeaseTable();
        const others = new LeaseTable(own.memory);
        const kept = new Map<string, Lease>();
        for (const { isKept, ...one } of changes) {
          if (isKept) own.keep(one);
          else own.drop(one.key);
          if (!isKept) kept.delete(one.key);
          else if (!kept.has(one.key)) kept.set(one.key, one);
        }
        expect(others.read().sort(byKey)).toEqual([...kept.values()].sort(byKey));
      }),
      { numRuns: 20 },
    );
  });

  it('leaves a lease that is too long for a slot to its process', () => {
    const table = new LeaseTable();
    table.keep(lease('k'.repeat(600)));
    table.keep(lease('short', 'v'.repeat(600)));
    table.keep(lease('a'));
    expect(table.read()).toEqual([lease('a')]);
  });

  it('takes one lease per slot, and another one when a slot is free', () => {
    const table = new LeaseTable();
    for (let i = 0; i < 12_000; i += 1) table.keep(lease(`k${i}`));
    const kept = table.read();
    expect(kept.length).toBeGreaterThan(10_000);
    expect(kept.length).toBeLessThan(12_000);
    table.drop('k0');
    table.keep(lease('next'));
    expect(table.read()).toHaveLength(kept.length);
    expect(table.read()).toContainEqual(lease('next'));
  });
});
