import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonObjectText } from './json-object-text';

describe('the text of a JSON object', () => {
  it('keeps unchanged members as written', () => {
    const text =
      ' {"a" : 1.0, "seed":18446744073709551615,"s": "é, \\u00e9 } \\"," , ' +
      '"o":{"a":[1e2,"}"]},"a":2}';
    const changed = new JsonObjectText(text).with({ a: [3], none: undefined });
    expect(changed.text).toBe(
      '{"seed":18446744073709551615,"s": "é, \\u00e9 } \\",","o":{"a":[1e2,"}"]},"a":[3]}',
    );
  });

  it('finds members by their decoded names, and the last of equal ones', () => {
    const object = new JsonObjectText('{"\\u0061": false , "a":true\n}');
    expect([object.has('a'), object.valueOf('a'), object.valueOf('b')]).toEqual([
      ...[true, 'true', undefined],
    ]);
    expect(object.with({ a: undefined }).text).toBe('{}');
  });

  it('equals an object with the same changes', () => {
    const anything = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(anything, anything, fc.boolean(), (object, changes, isSpaced) => {
        const before = JSON.stringify(object, null, isSpaced ? 2 : 0);
        const after = new JsonObjectText(before).with(changes).text;
        const plain = JSON.parse(JSON.stringify({ ...object, ...changes })) as unknown;
        expect(JSON.parse(after)).toEqual(plain);
      }),
    );
  });
});
