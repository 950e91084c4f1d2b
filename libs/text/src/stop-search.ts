/**
 * Looks for stop strings while the text grows token by token, across token boundaries, as vLLM's detokenizer does: the first string
 * of the list that ends within the newest token wins, and nothing is looked for before `minTokens` tokens are passed.
 */
export class StopSearch {
  text = '';
  private tokens = 0;

  constructor(
    private readonly strings: readonly string[],
    private readonly minTokens: number,
  ) {}

  /** Characters that a stream must keep back, so that it never shows a part of a stop string. */
  get heldBack(): number {
    return this.strings.reduce((most, string) => Math.max(most, string.length - 1), 0);
  }

  /** Adds a token's text; the stop string that it completes, with its place, or undefined. */
  add(piece: string): { readonly string: string; readonly at: number } | undefined {
    this.text += piece;
    this.tokens += 1;
    if (this.tokens <= this.minTokens) return undefined;
    for (const string of this.strings) {
      const from = Math.max(0, this.text.length - piece.length - string.length + 1);
      const at = this.text.indexOf(string, from);
      if (at !== -1) return { string, at };
    }
    return undefined;
  }
}
