import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvFields, parseCsv } from './csv';

describe('comma-separated values', () => {
  it('are rows by the names of their columns, with the numbers of their lines', () => {
    expect(parseCsv('\uFEFFa, b\r\n# a comment\r\n1,2\r\n\r\n3\r\n')).toEqual({
      columns: ['a', 'b'],
      rows: [
        { line: 3, cells: { a: '1', b: '2' } },
        { line: 5, cells: { a: '3', b: '' } },
      ],
    });
  });

  it('have no columns and no rows in an empty text', () => {
    expect(parseCsv('')).toEqual({ columns: [], rows: [] });
  });

  it('may have commas and quotes in quoted fields', () => {
    expect(csvFields('"1,024", "a ""b""",c,""')).toEqual(['1,024', 'a "b"', 'c', '']);
    expect(csvFields('a,"b",')).toEqual(['a', 'b', '']);
  });

  it('keep a stray quote', () => {
    expect(csvFields('a"b,c')).toEqual(['a"b', 'c']);
    expect(csvFields('a,"b" c,d')).toEqual(['a', '"b" c', 'd']);
  });

  it('give back any written fields', () => {
    const field = fc.string().map((text) => text.replaceAll(/[\r\n]/g, '').trim());
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(fc.array(field, { minLength: 1 }), (fields) => {
        expect(csvFields(fields.map(quoted).join(','))).toEqual(fields);
      }),
    );
  });
});
