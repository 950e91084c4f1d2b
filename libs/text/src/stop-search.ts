/**
 * Searches for stop strings while the text grows token by token, across token boundaries, as vLLM's
 * detokenizer does. The first string of the list that ends within the newest token wins. Strings
 * within the first `minTokens` tokens are ignored. Only the end of the text is read, so the cost
 * per token does not grow with the text.
 */
export class StopSearch {
  /** The text so far. Only its end is read, so that it stays a rope (joined lazily). */
  private grown = '';
  private tail = '';
  private tokens = 0;
  /**
   * Number of characters that a stream keeps back, so that it never shows a part of a stop string.
   */
  readonly heldBack: number;

  constructor(
    private readonly strings: readonly string[],
    private readonly minTokens: number,
  ) {
    this.heldBack = strings.reduce((most, string) => Math.max(most, string.length - 1), 0);
  }

  get text(): string {
    return this.grown;
  }

  get length(): number {
    return this.grown.length;
  }

  /** Adds a token's text. Returns the stop string that it completes and its place, or undefined. */
  add(piece: string): { readonly string: string; readonly at: number } | undefined {
    this.grown += piece;
    this.tokens += 1;
    const window = this.tail + piece;
    const start = this.grown.length - window.length;
    this.tail = window.slice(window.length - Math.min(this.heldBack, window.length));
    if (this.tokens <= this.minTokens) return undefined;
    for (const string of this.strings) {
      const from = Math.max(0, window.length - piece.length - string.length + 1);
      const at = window.indexOf(string, from);
      if (at !== -1) return { string, at: start + at };
    }
    return undefined;
  }
}
