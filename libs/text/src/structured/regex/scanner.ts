import { RegexError } from './regex-node';

/** A position in a pattern, by whole code points. */
export class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  sees(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Reads the next character. Throws at the end. */
  next(): string {
    const point = this.text.codePointAt(this.at);
    if (point === undefined) throw this.fault('unexpected end');
    const character = String.fromCodePoint(point);
    this.at += character.length;
    return character;
  }

  /** @param pattern begins with `^` and reads only a few characters */
  match(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.text.slice(this.at, this.at + 100));
    if (found === null) return undefined;
    this.at += found[0].length;
    return found;
  }

  /** The text from `offset` characters further on. */
  rest(offset: number): string {
    return this.text.slice(this.at + offset, this.at + 100);
  }

  fault(what: string): RegexError {
    return new RegexError(`${what} at offset ${Math.min(this.at, this.text.length)}`);
  }
}
