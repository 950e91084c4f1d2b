import { RegexError } from './regex-error';

const MAX_DEPTH = 100;
const QUANTIFIER = /(?:[*+?]|\{(?=,?\d)(\d*)(,?)(\d*)\})/y;
const GROUP = /\(\?(?:P?<\w+>|>)/y;
const FLAGS = /\(\?([ims]*)(?:-([ims]+))?([:)])/y;
const POSIX_NAME = /\[:(\w+):\]/y;
/** Escapes with the same meaning in ECMAScript, by what follows the backslash. */
const SHARED_ESCAPE = /[dDwWsSnrtfv]|[pP]\{|x|u|c/y;
/** What follows the letter of an escape; a pair of surrogates is one character. */
const DIGITS: Readonly<Record<string, RegExp>> = {
  x: /[\da-f]{2}/iy,
  u: /\{[\da-f]+\}|d[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|[\da-f]{4}/iy,
  c: /[a-z]/iy,
};
const SYNTAX = /[$()*+./?[\\\]^{|}]/;

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

/**
 * A pattern in the common part of ECMAScript's, Python's and Rust's syntax as a pattern of
 * ECMAScript with the flag `u`: group names and the marks of atomic groups and possessive
 * quantifiers are dropped, since they change no language or allow a part of it; `\A`, `\Z` and `\z`
 * are `^` and `$`; `flagsAt` has the inline flags. Throws `RegexError`; other
 * faults are left to the parser.
 */
export function ecmaSource(pattern: string): EcmaSource {
  return new Translation(pattern).translate();
}

export interface EcmaSource {
  readonly text: string;
  /** The flags of the character or set at an index of `text`. */
  flagsAt(index: number): InlineFlags;
  /** The error of a fault at an index of `text`. */
  fault(what: string, index: number): RegexError;
}

const NO_FLAGS: InlineFlags = { ignoreCase: false, dotAll: false };

class Translation {
  private at = 0;
  private out = '';
  private flags = NO_FLAGS;
  /** The flags around each open group. */
  private readonly outer: InlineFlags[] = [];
  /** Where each part begins in the source, by where it begins in the output. */
  private readonly origins = new Map<number, number>();
  private readonly flagged = new Map<number, InlineFlags>();

  constructor(private readonly source: string) {}

  translate(): EcmaSource {
    while (this.at < this.source.length) {
      this.origins.set(this.out.length, this.at);
      if (this.flags !== NO_FLAGS) this.flagged.set(this.out.length, this.flags);
      this.next();
    }
    return {
      text: this.out,
      flagsAt: (index) => this.flagged.get(index) ?? NO_FLAGS,
      fault: (what, index) => {
        const isAtEnd = index >= this.out.length;
        const origin = [...this.origins].findLast(([to]) => to <= index)?.[1];
        return faultAt(what, isAtEnd ? this.source.length : (origin ?? 0));
      },
    };
  }

  private next(): void {
    const quantifier = this.match(QUANTIFIER);
    if (quantifier !== undefined) {
      this.quantifier(quantifier);
      return;
    }
    const character = this.character();
    switch (character) {
      case '(':
        this.group();
        return;
      case ')':
        this.flags = this.outer.pop() ?? this.flags;
        this.out += ')';
        return;
      case '[':
        this.out += this.classText();
        return;
      case '\\':
        this.escape();
        return;
      case '.':
        this.out += '.';
        return;
      case '^':
      case '$':
      case '|':
        this.out += character;
        return;
      default:
        this.out += literal(character);
    }
  }

  private quantifier([text, low, comma, high]: RegExpExecArray): void {
    this.out += text.startsWith('{') ? `{${low === '' ? 0 : low}${comma}${high}}` : text;
    if (this.take('?')) this.out += '?';
    else if (this.take('+') && this.match(QUANTIFIER)) throw this.fault('multiple repeat');
  }

  private escape(): void {
    if (this.take('A')) this.out += '^';
    else if (this.take('z') || this.take('Z')) this.out += '$';
    else if (this.take('b')) this.out += '\\b';
    else if (this.take('B')) this.out += '\\B';
    else if (/^(?:[1-9]|k<)/.test(this.source.slice(this.at, this.at + 2))) {
      throw this.fault('backreferences are not supported');
    } else this.out += this.escaped();
  }

  /** The rest of an escape of one character or of a set of characters. */
  private escaped(): string {
    if (this.at === this.source.length) return '\\';
    if (this.take('0')) return '\\x00';
    const letter = this.match(/[pP]([A-Z])/y);
    if (letter !== undefined) return `\\${letter[0][0]}{${letter[1]}}`;
    const shared = this.match(SHARED_ESCAPE);
    if (shared === undefined) return literal(this.character());
    if (shared[0].length === 1 && /[xuc]/.test(shared[0])) {
      const digits = this.match(DIGITS[shared[0]]!);
      if (digits === undefined) throw this.fault('invalid character escape');
      return `\\${shared[0]}${digits[0]}`;
    }
    return `\\${shared[0]}${this.match(/(?<=\{)[^}]*\}?/y)?.[0] ?? ''}`;
  }

  private group(): void {
    this.at -= 1;
    const flags = this.match(FLAGS);
    if (flags === undefined) {
      this.open();
      this.out += this.match(GROUP) === undefined ? this.character() : '(?:';
      if (this.match(/\?<[=!]/y)) throw this.fault('lookbehinds are not supported');
      this.out += this.match(/\?[:=!]/y)?.[0] ?? '';
      return;
    }
    const [, on = '', off = '', end] = flags;
    if (on.includes('m')) throw this.fault('the flag m is not supported');
    const isOn = (flag: string, now: boolean): boolean =>
      (now || on.includes(flag)) && !off.includes(flag);
    const { ignoreCase, dotAll } = this.flags;
    if (end === ':') this.open();
    this.flags = { ignoreCase: isOn('i', ignoreCase), dotAll: isOn('s', dotAll) };
    // Flags without a body apply to the rest of the group around them.
    this.out += end === ':' ? '(?:' : '(?:)';
  }

  private open(): void {
    this.outer.push(this.flags);
    if (this.outer.length > MAX_DEPTH) throw new RegexError('the pattern is nested too deeply');
  }

  /** A class, whose opening bracket has been read. */
  private classText(): string {
    let text = this.take('^') ? '[^' : '[';
    while (!this.take(']')) {
      if (this.at >= this.source.length) throw this.fault("missing ']'");
      text += this.classRange();
    }
    return `${text}]`;
  }

  private classRange(): string {
    const posix = this.match(POSIX_NAME);
    if (posix !== undefined) {
      const named = POSIX[posix[1]!];
      if (named === undefined) throw this.fault('unknown class name');
      return named;
    }
    const from = this.classItem();
    if (isSet(from) || !this.sees('-') || this.sees('-]')) return from;
    this.take('-');
    const to = this.at < this.source.length ? this.classItem() : '';
    return isSet(to) ? `${from}\\-${to}` : `${from}-${to}`;
  }

  private classItem(): string {
    if (!this.take('\\')) {
      const character = this.character();
      return character === '-' ? '\\-' : literal(character);
    }
    if (this.take('b')) return '\\b';
    return this.take('-') ? '\\-' : this.escaped();
  }

  private fault(what: string): RegexError {
    return faultAt(what, this.at);
  }

  private sees(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  private take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.at += text.length;
    return true;
  }

  private character(): string {
    const character = String.fromCodePoint(this.source.codePointAt(this.at)!);
    this.at += character.length;
    return character;
  }

  private match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source) ?? undefined;
    this.at += found?.[0].length ?? 0;
    return found;
  }
}

function faultAt(what: string, offset: number): RegexError {
  return new RegexError(`${what} at offset ${offset}`);
}

function literal(character: string): string {
  return SYNTAX.test(character) ? `\\${character}` : character;
}

/** Whether a part of a class is a set of characters, which begins or ends no range. */
function isSet(text: string): boolean {
  return /^\\[dDwWsSpP]/.test(text);
}
