import type { PlanInput, TextCut } from './output-plan';
import type { TokenSource } from './steered-tokens';
import { StopSearch } from './stop-search';
import type { WrittenTokens } from './write-sentences';

/** The end of the tokens when no stop condition applies. */
export interface TokenLimit {
  readonly count: number;
  readonly endReason: 'stop' | 'length';
}

/** Draws tokens up to a stop string, a stop token or the limit. */
export class StoppableTokens {
  private readonly search: StopSearch;
  private readonly ids: number[] = [];
  private readonly ends: number[] = [];
  private readonly stopTokens: ReadonlySet<number>;

  constructor(
    private readonly input: PlanInput,
    private readonly minTokens: number,
    /** Text that the token at an index makes visible. Undefined: the token's own text. */
    private readonly pieceOf?: (at: number) => string,
  ) {
    this.search = new StopSearch(input.stop, minTokens);
    this.stopTokens = new Set(input.stopTokenIds);
  }

  run(tokens: TokenSource, { count, endReason }: TokenLimit): WrittenTokens {
    const { tokenizer, includeStop } = this.input;
    while (this.ids.length < count) {
      const id = tokens.next();
      const before = this.search.length;
      const hit = this.search.add(this.pieceOf?.(this.ids.length) ?? tokenizer.tokenText(id));
      this.ids.push(id);
      this.ends.push(this.search.length);
      if (this.stopTokens.has(id) && this.ids.length >= this.minTokens) {
        return this.writtenTokens('stop', id, includeStop ? undefined : before);
      }
      if (hit !== undefined) {
        return this.writtenTokens(
          'stop',
          hit.string,
          includeStop ? hit.at + hit.string.length : hit.at,
        );
      }
    }
    return this.writtenTokens(endReason, null, undefined);
  }

  private writtenTokens(
    endReason: 'stop' | 'length',
    stopReason: string | number | null,
    cutAt: number | undefined,
  ): WrittenTokens {
    const cut: TextCut = {
      text: this.search.text.slice(0, cutAt),
      ends: Uint32Array.from(this.ends),
      heldBack: this.input.includeStop ? 0 : this.search.heldBack,
    };
    return { tokenIds: Int32Array.from(this.ids), endReason, stopReason, cut };
  }
}
