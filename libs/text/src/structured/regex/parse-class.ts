import {
  ANY,
  charOf,
  type CharSet,
  differenceOf,
  DIGIT,
  propertyOf,
  SPACE,
  unionOf,
  WORD,
} from './char-set';
import type { Scanner } from './scanner';

const SHORTHANDS: Readonly<Record<string, CharSet>> = {
  d: DIGIT,
  D: differenceOf(ANY, DIGIT),
  w: WORD,
  W: differenceOf(ANY, WORD),
  s: SPACE,
  S: differenceOf(ANY, SPACE),
};

const SURROGATES: CharSet = [0xd800, 0xdfff];
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, '0': 0 };

/** Posix names inside a class, as in Rust and in Python's `regex`. */
const POSIX: Readonly<Record<string, CharSet>> = {
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  digit: DIGIT,
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  upper: [0x41, 0x5a],
  lower: [0x61, 0x7a],
  space: [9, 13, 0x20, 0x20],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

/** The set of an escape whose backslash has been read. */
export function escapedSet(scanner: Scanner): CharSet {
  const next = scanner.next();
  const shorthand = SHORTHANDS[next];
  if (shorthand !== undefined) return shorthand;
  const control = CONTROLS[next];
  if (control !== undefined) return charOf(control);
  if (next === 'p' || next === 'P') return unicodeProperty(scanner, next === 'P');
  if (next === 'x') return codePoint(scanner, /^([0-9a-fA-F]{2})/);
  if (next === 'u') return unicodeEscape(scanner);
  if (next === 'c') {
    const letter = scanner.match(/^[A-Za-z]/);
    if (letter === undefined) throw scanner.fault('invalid control escape');
    return charOf(letter[0].charCodeAt(0) % 32);
  }
  return charOf(next.codePointAt(0)!);
}

function unicodeProperty(scanner: Scanner, isNegated: boolean): CharSet {
  const found = scanner.match(/^(?:\{([^}]{1,60})\}|([A-Z]))/);
  const set = found === undefined ? undefined : propertyOf(found[1] ?? found[2] ?? '');
  if (set === undefined) throw scanner.fault('unknown Unicode property');
  return isNegated ? differenceOf(ANY, set) : set;
}

function unicodeEscape(scanner: Scanner): CharSet {
  if (scanner.sees('{')) return codePoint(scanner, /^\{([0-9a-fA-F]{1,6})\}/);
  const pair = scanner.match(/^(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/i);
  if (pair === undefined) return codePoint(scanner, /^([0-9a-fA-F]{4})/);
  const [lead, trail] = [pair[1]!, pair[2]!].map((digits) => Number.parseInt(digits, 16));
  return charOf(0x10000 + ((lead! - 0xd800) << 10) + (trail! - 0xdc00));
}

function codePoint(scanner: Scanner, pattern: RegExp): CharSet {
  const found = scanner.match(pattern);
  const point = found === undefined ? Infinity : Number.parseInt(found[1]!, 16);
  if (point > 0x10ffff) throw scanner.fault('invalid character escape');
  return charOf(point);
}

/** Reads `[...]` after its opening bracket. */
export class ClassParser {
  constructor(private readonly scanner: Scanner) {}

  parse(): CharSet {
    const { scanner } = this;
    const isNegated = scanner.take('^');
    const sets: CharSet[] = [];
    while (!scanner.take(']')) {
      if (scanner.isAtEnd) throw scanner.fault("missing ']'");
      sets.push(this.range());
    }
    const set = unionOf(sets);
    return isNegated ? differenceOf(ANY, set) : set;
  }

  private range(): CharSet {
    const { scanner } = this;
    const posix = scanner.match(/^\[:(\w+):\]/);
    if (posix !== undefined) {
      const named = POSIX[posix[1]!];
      if (named === undefined) throw scanner.fault('unknown class name');
      return named;
    }
    const from = this.item();
    if (!isSingle(from) || !scanner.sees('-') || scanner.sees('-]')) return from;
    scanner.take('-');
    const to = this.item();
    if (!isSingle(to)) return unionOf([from, charOf(0x2d), to]);
    if (to[0]! < from[0]!) throw scanner.fault('range out of order in a class');
    return differenceOf([from[0]!, to[0]!], SURROGATES);
  }

  private item(): CharSet {
    const { scanner } = this;
    if (!scanner.take('\\')) return charOf(scanner.next().codePointAt(0)!);
    return scanner.take('b') ? charOf(8) : escapedSet(scanner);
  }
}

function isSingle(set: CharSet): boolean {
  return set.length === 2 && set[0] === set[1];
}
