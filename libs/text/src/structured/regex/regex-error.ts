/**
 * A text that is not a pattern, or a pattern with an unsupported construct. The message is one
 * sentence.
 */
export class RegexError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegexError';
  }
}
