import { asciiJson } from './json-fragment';

/**
 * JSON joined from ready pieces. Key order and nulls stay as written, and a token that looks like a
 * number keeps its place as a key. All pieces are ASCII.
 */
export type RawJson = string;

/** Keys that JSON writes without escapes. */
const PLAIN = /^\w+$/;

/** Keys in the given order. Undefined values are left out. */
export function rawObject(fields: Readonly<Record<string, RawJson | undefined>>): RawJson {
  return rawEntries(Object.entries(fields));
}

export function rawEntries(entries: readonly (readonly [string, RawJson | undefined])[]): RawJson {
  let members = '';
  for (const [key, value] of entries) {
    if (value === undefined) continue;
    const name = PLAIN.test(key) ? `"${key}"` : asciiJson(key);
    members += `${members === '' ? '' : ','}${name}:${value}`;
  }
  return `{${members}}`;
}

export function rawArray(items: readonly RawJson[]): RawJson {
  return `[${items.join(',')}]`;
}

/** Ids as a JSON list without blanks. */
export function rawIds(ids: ArrayLike<number>): RawJson {
  return `[${Array.prototype.join.call(ids, ',')}]`;
}
