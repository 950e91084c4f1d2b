import type { CharSet } from './char-set';

/** The neighbours between which an assertion holds. */
export type Place = 'start' | 'end' | 'word-edge' | 'word-inside';

export type RegexNode =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | {
      readonly kind: 'repeat';
      readonly body: RegexNode;
      readonly min: number;
      /** Infinity: no limit. */
      readonly max: number;
    }
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'look'; readonly isNegated: boolean; readonly body: RegexNode };

/** A pattern as conditions on the text from its first character: all of `ahead`, and the body. */
export interface Regex {
  readonly body: RegexNode;
  /** Lookaheads at the start. */
  readonly ahead: readonly { readonly isNegated: boolean; readonly body: RegexNode }[];
}

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

export const NOTHING_MORE: RegexNode = { kind: 'sequence', parts: [] };
