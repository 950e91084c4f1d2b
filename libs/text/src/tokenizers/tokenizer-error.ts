/** A tokenizer cannot be loaded. The message is one sentence. */
export class TokenizerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenizerError';
  }
}
