/**
 * Code points as sorted, disjoint, inclusive ranges: `[from, to, from, to, ...]`, all within `ANY`.
 */
export type CharSet = readonly number[];

/** All code points of a text: every one except lone surrogates. */
export const ANY: CharSet = [0, 0xd7ff, 0xe000, 0x10ffff];
export const NO_CHARS: CharSet = [];
export const DIGIT: CharSet = [0x30, 0x39];
export const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** White space as ECMAScript defines it. */
export const SPACE: CharSet = [
  9, 13, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f,
  0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
];
export const LINE_BREAK: CharSet = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

/** The set of one code point; empty for half of a surrogate pair. */
export function charOf(point: number): CharSet {
  return point >= 0xd800 && point <= 0xdfff ? NO_CHARS : [point, point];
}

export function hasChar(set: CharSet, point: number): boolean {
  for (let i = 0; i < set.length; i += 2) {
    if (point < set[i]!) return false;
    if (point <= set[i + 1]!) return true;
  }
  return false;
}

export function unionOf(sets: readonly CharSet[]): CharSet {
  const ranges: [number, number][] = [];
  for (const set of sets) {
    for (let i = 0; i < set.length; i += 2) ranges.push([set[i]!, set[i + 1]!]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const last = merged.length - 1;
    if (last > 0 && from <= merged[last]! + 1) merged[last] = Math.max(merged[last]!, to);
    else merged.push(from, to);
  }
  return merged;
}

export function intersectionOf(a: CharSet, b: CharSet): CharSet {
  if (a === ANY) return b;
  return b === ANY || a === b ? a : common(a, b);
}

function common(a: CharSet, b: CharSet): CharSet {
  const ranges: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const from = Math.max(a[i]!, b[j]!);
    const to = Math.min(a[i + 1]!, b[j + 1]!);
    if (from <= to) ranges.push(from, to);
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return ranges;
}

/** The code points in `a` but not in `b`. */
export function differenceOf(a: CharSet, b: CharSet): CharSet {
  const gaps: number[] = [];
  let from = 0;
  for (let i = 0; i < b.length; i += 2) {
    if (b[i]! > from) gaps.push(from, b[i]! - 1);
    from = b[i + 1]! + 1;
  }
  if (from <= 0x10ffff) gaps.push(from, 0x10ffff);
  return common(a, gaps);
}

/** The set with the other case of each letter. Code points beyond Latin-1 stay unchanged. */
export function ignoringCase(set: CharSet): CharSet {
  const others: CharSet[] = [set];
  for (let point = 0x41; point <= 0xff; point++) {
    if (!hasChar(set, point)) continue;
    const text = String.fromCharCode(point);
    for (const other of [text.toLowerCase(), text.toUpperCase()]) {
      if (other.length === 1) others.push(charOf(other.charCodeAt(0)));
    }
  }
  return unionOf(others);
}

const properties = new Map<string, CharSet>();
const MAX_PROPERTY_NAME = 60;

/** `\p{name}` within the basic plane. Undefined: Unicode has no such property. */
export function propertyOf(name: string): CharSet | undefined {
  const known = properties.get(name);
  if (known !== undefined || name.length > MAX_PROPERTY_NAME) return known;
  if (!/^[A-Za-z_]+(=[A-Za-z_]+)?$/.test(name)) return undefined;
  let runs: RegExp;
  try {
    runs = new RegExp(`\\p{${name}}+`, 'gu');
  } catch {
    return undefined;
  }
  const ranges: number[] = [];
  basicPlane ??= everyCharacter();
  for (const { 0: run, index } of basicPlane.matchAll(runs)) {
    ranges.push(...common([index, index + run.length - 1], ANY));
  }
  properties.set(name, ranges);
  return ranges;
}

let basicPlane: string | undefined;

/**
 * Each character of the basic plane at the index of its number; a noncharacter where there is none.
 */
function everyCharacter(): string {
  let text = '';
  for (let point = 0; point <= 0xffff; point++) {
    text += String.fromCharCode(hasChar(ANY, point) ? point : 0xfffe);
  }
  return text;
}
