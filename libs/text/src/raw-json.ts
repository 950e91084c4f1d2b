import { asciiJson } from './json-fragment';

/**
 * JSON that is put together from ready pieces, so that key order and every null are as written, and
 * a token that reads like a number keeps its place as a key. All pieces are ASCII.
 */
export type RawJson = string;

/** Keys in the order given; undefined ones are left out. */
export function rawObject(fields: Readonly<Record<string, RawJson | undefined>>): RawJson {
  return rawEntries(Object.entries(fields));
}

export function rawEntries(entries: readonly (readonly [string, RawJson | undefined])[]): RawJson {
  let members = '';
  for (const [key, value] of entries) {
    if (value === undefined) continue;
    members += `${members === '' ? '' : ','}${asciiJson(key)}:${value}`;
  }
  return `{${members}}`;
}

export function rawArray(items: readonly RawJson[]): RawJson {
  return `[${items.join(',')}]`;
}

/** Ids without the quotes and blanks of a general encoder. */
export function rawIds(ids: ArrayLike<number>): RawJson {
  return `[${Array.prototype.join.call(ids, ',')}]`;
}
