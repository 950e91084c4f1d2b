/**
 * A character of several tokens is not told before it is whole; after so many tokens it is told
 * broken.
 */
const MAX_HELD_TOKENS = 8;
const BROKEN = '\ufffd';

/** Text of tokens as they come. */
export class Detokenizer {
  /** @param textOf  text of tokens; `before` are those that precede them */
  constructor(textOf) {
    this.textOf = textOf;
    this.told = [];
    this.held = [];
  }

  /** What the token adds to what is told; empty while a character is not whole. */
  push(token) {
    this.held.push(token);
    const text = this.textOf(this.held, this.told);
    if (text.endsWith(BROKEN) && this.held.length < MAX_HELD_TOKENS) return '';
    return this.tell(text);
  }

  /** What is left at the end. */
  flush() {
    return this.held.length === 0 ? '' : this.tell(this.textOf(this.held, this.told));
  }

  tell(text) {
    this.told = this.held;
    this.held = [];
    return text;
  }
}
