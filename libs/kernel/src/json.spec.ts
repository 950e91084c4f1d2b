import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldsIn, isObject, objectIn, textIn } from './json';

describe('JSON values', () => {
  it('are objects, or have no fields', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        if (isObject(value)) expect(fieldsIn(value)).toBe(value);
        else expect(fieldsIn(value)).toEqual({});
      }),
    );
    expect([[], null, undefined, 'a', {}].map(isObject)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  it('are texts when there is something in them', () => {
    expect(['a', '', 1, null, ['a']].map(textIn)).toEqual(['a', ...Array<undefined>(4)]);
  });

  it('are parsed from a text only as objects', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read: unknown = JSON.parse(JSON.stringify(value));
        expect(objectIn(JSON.stringify(value))).toEqual(isObject(read) ? read : undefined);
      }),
    );
    expect(objectIn('{')).toBeUndefined();
  });
});
