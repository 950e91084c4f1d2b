import type { OutputPlan, PlanInput, TextCut } from './output-plan';
import { SentenceGenerator } from './sentence-generator';
import { SteeredTokens, type TokenSource } from './steered-tokens';
import { StopSearch } from './stop-search';
import { vocabularyOf } from './vocabulary';

/** Tokens of one run, and how the sequence ended if it did so there. */
export type WrittenTokens = Pick<OutputPlan, 'tokenIds' | 'endReason' | 'stopReason' | 'cut'>;

export interface SentencesWish {
  readonly input: PlanInput;
  /** Decides over the words. */
  readonly hash: number;
  /** At least 1. */
  readonly maxTokens: number;
  readonly minTokens: number;
  /** The first word has no leading space. */
  readonly startsBare: boolean;
}

/**
 * Sentences up to the length that the length model says (never before `minTokens`), then `stop`; or up to `maxTokens`, then `length`. An end exactly at
 * the limit is a `length`: the end token itself is not part of the output and would need one more. With `ignoreEos` only the limit and stop
 * conditions end it.
 */
export function writeSentences(wish: SentencesWish): WrittenTokens {
  const { input, hash, maxTokens, minTokens } = wish;
  const endAt = Math.max(1, minTokens, Math.round(input.lengthModel(input.seed, hash)));
  const endsByItself = !input.ignoreEos && endAt < maxTokens;
  const count = endsByItself ? endAt : maxTokens;
  const endReason = endsByItself ? 'stop' : 'length';
  const tokens = tokenSource(wish, endAt);
  if (input.stop.length > 0 || input.stopTokenIds.length > 0) {
    return new StoppableSentences(input, minTokens).run(tokens, count, endReason);
  }
  const tokenIds = new Int32Array(count);
  for (let i = 0; i < count; i++) tokenIds[i] = tokens.next();
  const cut = input.steering === undefined ? undefined : spelledCut(input.tokenizer, tokenIds);
  return { tokenIds, endReason, stopReason: null, cut };
}

/** Words that end with a full stop after `endAt` tokens, as far as nothing else is wanted. */
export function tokenSource(
  { input, hash, startsBare }: SentencesWish,
  endAt: number,
): TokenSource {
  const vocabulary = vocabularyOf(input.tokenizer);
  const words = new SentenceGenerator(vocabulary, hash % 2 ** 32, { endAt, startsBare });
  const { steering, tokenizer } = input;
  if (steering === undefined) return words;
  return new SteeredTokens(words, tokenizer, steering, () => words.unit());
}

/** For tokens that may be parts of a character: the text is what each spells on its own. */
function spelledCut(tokenizer: PlanInput['tokenizer'], ids: Int32Array): TextCut {
  let text = '';
  const ends = new Uint32Array(ids.length);
  ids.forEach((id, i) => {
    text += tokenizer.tokenText(id);
    ends[i] = text.length;
  });
  return { text, ends, heldBack: 0 };
}

/** Generates while looking for stop strings and stop tokens. */
class StoppableSentences {
  private readonly search: StopSearch;
  private readonly ids: number[] = [];
  private readonly ends: number[] = [];
  private readonly stopTokens: ReadonlySet<number>;

  constructor(
    private readonly input: PlanInput,
    private readonly minTokens: number,
  ) {
    this.search = new StopSearch(input.stop, minTokens);
    this.stopTokens = new Set(input.stopTokenIds);
  }

  run(tokens: TokenSource, limit: number, endReason: 'stop' | 'length'): WrittenTokens {
    const { tokenizer, includeStop } = this.input;
    while (this.ids.length < limit) {
      const id = tokens.next();
      const before = this.search.length;
      const hit = this.search.add(tokenizer.tokenText(id));
      this.ids.push(id);
      this.ends.push(this.search.length);
      if (this.stopTokens.has(id) && this.ids.length >= this.minTokens) {
        return this.ended('stop', id, includeStop ? undefined : before);
      }
      if (hit !== undefined) {
        return this.ended('stop', hit.string, includeStop ? hit.at + hit.string.length : hit.at);
      }
    }
    return this.ended(endReason, null, undefined);
  }

  private ended(
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
