import { RegexError } from './regex-error';

const MAX_DEPTH = 100;

const HEX = '[0-9A-Fa-f]';
/** What follows a backslash: an escape of several characters, or any one. */
const ESCAPED = [
  '[pP][A-Z]',
  '[pP]\\{[^}]*\\}',
  `x${HEX}{2}`,
  `u\\{${HEX}+\\}`,
  `u[dD][89ABab]${HEX}{2}\\\\u[dD][C-Fc-f]${HEX}{2}`,
  `u${HEX}{4}`,
  'c[A-Za-z]',
  '[^]',
].join('|');
const ITEM = `\\\\(?:${ESCAPED})|[^\\\\]`;
/** The parts of a class: a posix name, a range, or one character or set. */
const CLASS_PART = new RegExp(`\\[:(?<posix>\\w+):\\]|(?<from>${ITEM})(?:-(?<to>${ITEM}))?`, 'gu');
/**
 * The parts of a pattern. A part without a name is any other character. Each is found in time
 * linear in its length.
 */
const PART = new RegExp(
  [
    '(?<quantifier>[*+?]|\\{(?=,?\\d)(?<low>\\d*)(?<high>,\\d*)?\\})(?<mark>[?+]?)',
    '(?<flags>\\(\\?(?<on>[ims]*)(?:-(?<off>[ims]+))?(?<end>[:)]))',
    '(?<behind>\\(\\?<[=!])',
    '(?<group>\\((?:\\?(?:P?<\\w+>|[>=!]))?)',
    '\\[(?<negation>\\^?)(?<parts>(?:\\[:\\w+:\\]|\\\\[^]|[^\\]\\\\])*)\\]',
    `\\\\(?<escaped>${ESCAPED})`,
    '[^]',
  ].join('|'),
  'gu',
);

/** Escapes of one character with the same meaning in ECMAScript. */
const SHARED_ESCAPE = /^[dDwWsSnrtfv]$/;
/** Letters of escapes that need more than the letter. */
const UNFINISHED = /^[pPxuc]$/;
const SYNTAX = /[$()*+./?[\\\]^{|}-]/;
/** Escapes that a class does not have. */
const PLACES: Readonly<Record<string, string>> = { A: '^', z: '$', Z: '$', b: '\\b', B: '\\B' };

/** Posix names inside a class, as in Rust and in Python's `regex`. */
const POSIX: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '\\d',
  alnum: '\\dA-Za-z',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\t-\\r ',
  punct: '!-\\/:-@\\[-`\\{-~',
  xdigit: '\\dA-Fa-f',
};

/** Flags of ECMAScript that are on at a place. */
export interface InlineFlags {
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
}

export interface EcmaSource {
  readonly text: string;
  /** The flags of the character or set at an index of `text`. */
  flagsAt(index: number): InlineFlags;
  /** The error of a fault at an index of `text`. */
  fault(what: string, index: number): RegexError;
}

const NO_FLAGS: InlineFlags = { ignoreCase: false, dotAll: false };

/**
 * A pattern in the common part of ECMAScript's, Python's and Rust's syntax as a pattern of
 * ECMAScript with the flag `u`: group names and the marks of atomic groups and possessive
 * quantifiers are dropped, since they change no language or allow a part of it; `\A`, `\Z` and `\z`
 * are `^` and `$`; `flagsAt` has the inline flags. Throws `RegexError`; other faults are left to
 * the parser.
 */
export function ecmaSource(pattern: string): EcmaSource {
  const translation = new Translation();
  for (const part of pattern.matchAll(PART)) translation.add(part);
  const { text, flagged, origins } = translation;
  return {
    text,
    flagsAt: (index) => flagged.get(index) ?? NO_FLAGS,
    fault: (what, index) => {
      const origin = [...origins].findLast(([to]) => to <= index)?.[1] ?? 0;
      return faultAt(what, index >= text.length ? pattern.length : origin);
    },
  };
}

type Groups = Readonly<Record<string, string | undefined>>;

class Translation {
  text = '';
  /** Where each part begins in the source, by where it begins in the text. */
  readonly origins = new Map<number, number>();
  readonly flagged = new Map<number, InlineFlags>();
  private flags = NO_FLAGS;
  /** The flags around each open group. */
  private readonly outer: InlineFlags[] = [];
  private isQuantified = false;
  private at = 0;

  add({ 0: part, index, groups = {} }: RegExpExecArray): void {
    this.at = index;
    this.origins.set(this.text.length, index);
    if (this.flags !== NO_FLAGS) this.flagged.set(this.text.length, this.flags);
    this.text += this.translated(part, groups);
    this.isQuantified = groups['quantifier'] !== undefined;
  }

  private translated(part: string, groups: Groups): string {
    const { quantifier, escaped, parts } = groups;
    if (quantifier !== undefined) return this.quantifier(quantifier, groups);
    if (escaped !== undefined) return this.escape(escaped);
    if (parts !== undefined) {
      const translated = parts.replace(CLASS_PART, (...found) =>
        this.classPart(found.at(-1) as Groups),
      );
      return `[${groups['negation']}${translated}]`;
    }
    if (part.startsWith('(')) return this.group(part, groups);
    if (part === ')') this.flags = this.outer.pop() ?? this.flags;
    if (part === '[') throw this.fault("missing ']'");
    return /[.^$|)\\]/.test(part) ? part : literal(part);
  }

  private quantifier(quantifier: string, { low, high = '', mark }: Groups): string {
    if (this.isQuantified) throw this.fault('multiple repeat');
    const lazy = mark === '?' ? '?' : '';
    return (low === undefined ? quantifier : `{${low === '' ? 0 : low}${high}}`) + lazy;
  }

  private group(part: string, { flags, on = '', off = '', end, behind }: Groups): string {
    if (behind !== undefined) throw this.fault('lookbehinds are not supported');
    if (end !== ')') this.outer.push(this.flags);
    if (this.outer.length > MAX_DEPTH) throw new RegexError('the pattern is nested too deeply');
    if (flags === undefined) return /[<>]/.test(part) ? '(?:' : part;
    if (on.includes('m')) throw this.fault('the flag m is not supported');
    const isOn = (flag: string, now: boolean): boolean =>
      (now || on.includes(flag)) && !off.includes(flag);
    const { ignoreCase, dotAll } = this.flags;
    this.flags = { ignoreCase: isOn('i', ignoreCase), dotAll: isOn('s', dotAll) };
    // Flags without a body apply to the rest of the group around them.
    return end === ')' ? '(?:)' : '(?:';
  }

  private escape(escaped: string): string {
    if (/^[1-9k]$/.test(escaped)) throw this.fault('backreferences are not supported');
    return PLACES[escaped] ?? this.escapedSet(escaped);
  }

  private classPart({ posix, from = '', to }: Groups): string {
    if (posix !== undefined) {
      const named = POSIX[posix];
      if (named === undefined) throw this.fault('unknown class name');
      return named;
    }
    const first = this.classItem(from);
    if (to === undefined) return first;
    const last = this.classItem(to);
    return isSet(first) || isSet(last) ? `${first}\\-${last}` : `${first}-${last}`;
  }

  private classItem(item: string): string {
    if (item === '\\b') return item;
    return item.length > 1 && item.startsWith('\\')
      ? this.escapedSet(item.slice(1))
      : literal(item);
  }

  /** One character or set, of what follows a backslash. */
  private escapedSet(escaped: string): string {
    if (escaped === '0') return '\\x00';
    if (UNFINISHED.test(escaped)) throw this.fault('invalid character escape');
    if (/^[pP][A-Z]$/.test(escaped)) return `\\${escaped[0]}{${escaped[1]}}`;
    const isOne = [...escaped].length === 1 && !SHARED_ESCAPE.test(escaped);
    return isOne ? literal(escaped) : `\\${escaped}`;
  }

  private fault(what: string): RegexError {
    return faultAt(what, this.at);
  }
}

function faultAt(what: string, offset: number): RegexError {
  return new RegexError(`${what} at offset ${offset}`);
}

function literal(character: string): string {
  if (character === '-') return '\\x2d';
  return SYNTAX.test(character) ? `\\${character}` : character;
}

/** Whether a part of a class is a set of characters, which begins or ends no range. */
function isSet(text: string): boolean {
  return /^\\[dDwWsSpP]/.test(text);
}
