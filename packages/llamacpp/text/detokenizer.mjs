/**
 * A character of several tokens is not passed on before it is complete; after this many tokens it
 * is passed on broken.
 */
const MAX_HELD_TOKENS = 8;
const BROKEN = '\ufffd';

/** Text of tokens as they arrive. */
export class Detokenizer {
  /** @param textOf  gives the text of tokens; `before` are the tokens that precede them */
  constructor(textOf) {
    this.textOf = textOf;
    this.told = [];
    this.held = [];
  }

  /** The text that the token adds; empty while a character is incomplete. */
  push(token) {
    this.held.push(token);
    const text = this.textOf(this.held, this.told);
    if (text.endsWith(BROKEN) && this.held.length < MAX_HELD_TOKENS) return '';
    return this.tell(text);
  }

  /** The rest at the end. */
  flush() {
    return this.held.length === 0 ? '' : this.tell(this.textOf(this.held, this.told));
  }

  tell(text) {
    this.told = this.held;
    this.held = [];
    return text;
  }
}
