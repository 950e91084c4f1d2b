import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forEachNumberRow, forEachNumberRowIn, forEachRun } from './number-rows';

function rowsOf(csv: string, columns: number): number[][] {
  const rows: number[][] = [];
  forEachNumberRow(csv, columns, (row) => rows.push([...row]));
  return rows;
}

describe('rows of numbers', () => {
  it('are the rows after the header, with or without a final line end', () => {
    expect(rowsOf('a,b\n1,2.5\n\n30,0.125\n', 2)).toEqual([
      [1, 2.5],
      [30, 0.125],
    ]);
    expect(rowsOf('a,b\n1,2', 2)).toEqual([[1, 2]]);
    expect(rowsOf('a,b', 2)).toEqual([]);
  });

  it('leave out fields after the last column, and have none for missing ones', () => {
    expect(rowsOf('a,b,c\n1,2,3\n4\n5,6,7\n', 2)).toEqual([
      [1, 2],
      [4, NaN],
      [5, 6],
    ]);
  });

  it('equal Number of the fields', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.nat(1e9).map((n) => (n / 1_000).toFixed(3)),
      fc.constantFrom(
        '1e-3',
        '-2',
        '12345678901234567890.5',
        '0.00000000000000000001',
        'x',
        '1.2.3',
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number), { minLength: 1 }), (rows) => {
        const csv = ['a,b', ...rows.map((row) => row.join(','))].join('\n');
        expect(rowsOf(csv, 2)).toEqual(rows.map((row) => row.map(Number)));
      }),
    );
  });
});

describe('runs of rows', () => {
  it('cover all rows of a sorted table in their order, each run with its common fields', () => {
    const key = fc.constantFrom(1, 2, 12, 128);
    const row = fc.tuple(key, key, fc.nat(9_999));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 80 }), (unsorted) => {
        const rows = unsorted.sort(([a, b], [c, d]) => a - c || b - d);
        const keys: string[] = [];
        const csv = `a,b,c\n${rows.map((row) => `${row.join(',')}\n`).join('')}`;
        const read: number[][] = [];
        forEachRun(csv, 2, (shared, range) => {
          keys.push(shared.join());
          forEachNumberRowIn(csv, { columns: 3, range }, (row) => {
            expect([...row.slice(0, 2)].map(String)).toEqual(shared);
            read.push([...row]);
          });
        });
        expect(read).toEqual(rows);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 50 },
    );
  });
});
