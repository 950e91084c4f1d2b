import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consoleTable } from './console-table';
import { wrapWords } from './console-width';

const RIGHT = { align: 'right' as const };

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

/** Names of columns that are wider together than a terminal. */
const WIDE = Array.from({ length: 9 }, (_none, i) => ({ name: `a long name ${i}`, ...RIGHT }));

describe('a table for a terminal', () => {
  it('stays one table where it fits', () => {
    const columns = [{ name: 'split' }, { name: 'rate', ...RIGHT }];
    expect(
      consoleTable(columns, [
        ['2P2D', 5],
        ['1P3D', 5],
      ]),
    ).toBe(['split  rate', '2P2D      5', '1P3D      5', ''].join('\n'));
  });

  it('folds columns with equal values into one line', () => {
    const rows = ['x', 'y'].map((name) => [
      name,
      ...WIDE.slice(1).map((_each, i) => (i < 7 ? i : name)),
    ]);
    const text = consoleTable(WIDE, rows);
    expect(text).toContain('Every row: a long name 1 0, a long name 2 1,');
    expect(text.split('\n')[0]).toBe('a long name 0  a long name 8');
  });

  it('moves columns that do not fit into a second table with the same first column', () => {
    const rows = [0, 1].map((row) => WIDE.map((_each, i) => `${row}.${i}`));
    const text = consoleTable(WIDE, rows);
    const [first, second] = text.split('\n\n');
    expect(first!.split('\n')[1]!.trim()).toMatch(/^0\.0 /);
    expect(second!.split('\n')[1]!.trim()).toMatch(/^0\.0 .*0\.8$/);
  });

  it('numbers rows with long names, and keeps them in one table', () => {
    const long = ['a', 'b'].map((name) => `${name} `.repeat(30).trim());
    const columns = [{ name: 'fleet' }, ...WIDE.slice(0, 5)];
    const rows = long.map((name, row) => [name, ...WIDE.slice(0, 5).map((_each, i) => row + i)]);
    const text = consoleTable(columns, rows);
    expect(text.startsWith(`#1 ${long[0]}\n#2 ${long[1]}\n\nfleet  a long name 0`)).toBe(true);
    expect(text).toMatch(/^#2 .* 5$/m);
    expect(widest(text)).toBeLessThanOrEqual(100);
  });

  it('wraps a last column of text', () => {
    const text = consoleTable(
      [{ name: 'gpu' }, { name: 'source' }],
      [['h100', 'word '.repeat(40).trim()]],
    );
    expect(
      text
        .split('\n')
        .slice(1, 3)
        .map((line) => line.slice(0, 10)),
    ).toEqual(['h100  word', '      word']);
  });

  it('is not folded without a width', () => {
    const rows = [WIDE.map(() => 'x')];
    expect(consoleTable(WIDE, rows, Infinity).split('\n')).toHaveLength(3);
  });

  it('fits 100 columns and keeps all cells', () => {
    const cell = fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom('a', 'b', '7') });
    const tables = fc.integer({ min: 2, max: 14 }).chain((width) => {
      const row = fc.array(cell, { minLength: width, maxLength: width });
      return fc.tuple(row, fc.array(row, { minLength: 1, maxLength: 5 }));
    });
    fc.assert(
      fc.property(tables, ([names, rows]) => {
        const text = consoleTable(
          names.map((name) => ({ name, ...RIGHT })),
          rows,
        );
        expect(widest(text)).toBeLessThanOrEqual(100);
        for (const each of [...names, ...rows.flat()]) expect(text).toContain(each);
      }),
    );
  });
});

describe('wrapped words', () => {
  it('stay within the width, and indent further lines', () => {
    expect(wrapWords('one two three four', 9, 2)).toBe('one two\n  three\n  four\n');
    expect(wrapWords('a-word-too-long b', 5)).toBe('a-word-too-long\nb\n');
  });
});
