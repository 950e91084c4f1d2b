import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenTable } from './token-table';

const bytes = fc.string({
  unit: fc.nat(255).map((code) => String.fromCharCode(code)),
  maxLength: 6,
});
const tokens = fc
  .uniqueArray(fc.option(bytes, { nil: undefined }), { selector: (one) => one ?? Symbol() })
  .filter((all) => all.length > 0);

describe('a table of tokens', () => {
  it('has the same bytes and ids as a list and a map, also when read from its file', () => {
    fc.assert(
      fc.property(tokens, fc.array(bytes), (list, others) => {
        const made = TokenTable.of(list);
        const idOf = new Map(
          list.flatMap((token, id) => (token === undefined ? [] : [[token, id]])),
        );
        for (const table of [made, TokenTable.read(made.toFile())]) {
          expect(table.size).toBe(list.length);
          expect(list.map((_token, id) => table.bytesOf(id))).toEqual(list);
          for (const one of [...idOf.keys(), ...others]) {
            expect(table.idOf(String(one))).toBe(idOf.get(String(one)));
          }
          expect(table.longest).toBe(Math.max(1, ...[...idOf.keys()].map((one) => one.length)));
        }
      }),
    );
  });

  it('has no token outside its ids or in a hole', () => {
    const table = TokenTable.of(['a', undefined, 'b']);
    expect([-1, 0, 1, 2, 3].map((id) => table.has(id))).toEqual([false, true, false, true, false]);
    expect(table.bytesOf(7)).toBeUndefined();
  });

  it('refuses a truncated file', () => {
    const file = TokenTable.of(['a', 'bc']).toFile();
    expect(() => TokenTable.read(file.subarray(0, -1))).toThrow('length of a table is in its head');
  });
});
