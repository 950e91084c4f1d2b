import type { CharSet } from './char-set';

/** Where an assertion holds: between which neighbours. */
export type Place = 'start' | 'end' | 'word-edge' | 'word-inside';

export type RegexNode =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | {
      readonly kind: 'repeat';
      readonly body: RegexNode;
      readonly min: number;
      /** Infinity: without end. */
      readonly max: number;
    }
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'look'; readonly isNegated: boolean; readonly body: RegexNode };

/** A pattern as conditions on the text from its first character: all of `ahead` and the body. */
export interface Regex {
  readonly body: RegexNode;
  /** Lookaheads at the very start. */
  readonly ahead: readonly { readonly isNegated: boolean; readonly body: RegexNode }[];
}

/** Not a pattern, or one with a construct that is not supported. Says which, in one sentence. */
export class RegexError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegexError';
  }
}

export const NOTHING_MORE: RegexNode = { kind: 'sequence', parts: [] };
