import { escapeJson, JsonFragments, type OutputPlan, type Tokenizer } from '@baton/text';

/** A run of tokens with one text. */
export type TokenRun = Pick<OutputPlan, 'tokenIds' | 'cut'>;

/**
 * Tracks the shown text of a run. While the sequence continues, it holds back the characters that
 * can belong to a stop string; at the end it shows the rest up to the cut.
 */
export class VisibleText {
  private readonly fragments: JsonFragments;
  private shown = 0;

  constructor(
    tokenizer: Tokenizer,
    private readonly run: TokenRun,
    private readonly isHidden: boolean,
  ) {
    this.fragments = JsonFragments.of(tokenizer);
  }

  /** JSON-escaped text that tokens `[from, from + count)` of the run make visible. */
  advance(from: number, count: number, isEnd: boolean): string {
    if (this.isHidden) return '';
    const { cut, tokenIds } = this.run;
    if (cut !== undefined) return this.uncovered(from + count, isEnd);
    let text = '';
    for (let i = from; i < from + count; i++) text += this.fragments.get(tokenIds[i]!);
    return text;
  }

  private uncovered(tokens: number, isEnd: boolean): string {
    const { text, ends, heldBack } = this.run.cut!;
    const generated = tokens === 0 ? 0 : (ends[tokens - 1] ?? text.length);
    const end = Math.min(text.length, isEnd ? generated : generated - heldBack);
    if (end <= this.shown) return '';
    const piece = text.slice(this.shown, end);
    this.shown = end;
    return escapeJson(piece);
  }
}
