import { spendWork } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';
import { Pattern } from '../regex/pattern';
import { RegexError } from '../regex/regex-error';
import type { GrammarNode } from './grammar';

const MAX_LENGTH = 200_000;
const MAX_DEPTH = 100;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };

/** A position in the text of a grammar, for both notations. */
export class GrammarScanner {
  private at = 0;
  private depth = 0;

  /** @param blanks pattern of the text between symbols, including comments; sticky */
  constructor(
    private readonly text: string,
    private readonly blanks: RegExp,
  ) {
    if (text.length > MAX_LENGTH) {
      throw new ConstraintError(`the grammar is longer than ${MAX_LENGTH} characters`);
    }
    spendWork(text.length);
    this.skip();
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /**
   * Reads the match of a sticky pattern at this position, and the blanks behind it. Undefined: no
   * match.
   */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const found = this.peek(pattern);
    if (found === undefined) return undefined;
    this.at += found[0].length;
    this.skip();
    return found;
  }

  peek(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text) ?? undefined;
  }

  /**
   * Reads a part that may contain itself. Throws `ConstraintError` when it is nested too deeply.
   */
  nested<Result>(read: () => Result): Result {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw this.fault('nested too deeply');
    const result = read();
    this.depth -= 1;
    return result;
  }

  pattern(source: string): GrammarNode {
    try {
      const pattern = new Pattern(source);
      pattern.demands('whole');
      return { kind: 'pattern', pattern };
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      throw this.fault(error.message);
    }
  }

  fault(what: string): ConstraintError {
    const line = this.text.slice(0, this.at).split('\n').length;
    return new ConstraintError(`the grammar cannot be read: ${what} in line ${line}`);
  }

  private skip(): void {
    this.blanks.lastIndex = this.at;
    if (this.blanks.test(this.text)) this.at = this.blanks.lastIndex;
  }
}

/** The text of a quoted literal, without its quotes. */
export function unquoted(inner: string): string {
  return inner.replace(
    /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([^]))/g,
    (_all, ...groups: (string | undefined)[]) => {
      const [braced, short, long, byte, other] = groups;
      const digits = braced ?? short ?? long ?? byte;
      if (digits === undefined) return ESCAPES[other ?? ''] ?? other ?? '';
      const point = Number.parseInt(digits, 16);
      return point > 0x10ffff ? '' : String.fromCodePoint(point);
    },
  );
}
