import { mix, unitOf } from '@baton/kernel';
import type { Tokenizer } from './tokenizers/tokenizer';
import { PART, vocabularyOf } from './vocabulary';

export interface TokenLogprob {
  readonly id: number;
  /** Natural logarithm, below 0. */
  readonly logprob: number;
}

/** Identifies one place of one sequence: the hash of its plan and the index of the token. */
export interface TokenPlace {
  readonly hash: number;
  readonly index: number;
  readonly id: number;
}

/**
 * The token at a place, and after it its `alternatives` likeliest rivals in falling order. The
 * token has probability p in [0.35, 1), drawn from the place. Rival j (from 1) has (1 - p) / 2^j,
 * so all sum to less than 1 and the order holds.
 */
export function tokenLogprobs(
  tokenizer: Tokenizer,
  place: TokenPlace,
  alternatives: number,
): TokenLogprob[] {
  const draw = mix(mix(place.hash, place.index), place.id);
  const p = 0.35 + 0.65 * Math.sqrt(unitOf(draw)) * 0.999;
  const result: TokenLogprob[] = [{ id: place.id, logprob: logOf(p) }];
  const rivals = vocabularyOf(tokenizer).inner[PART.noun]!;
  let at = draw % rivals.length;
  for (let j = 1; j <= alternatives; j++) {
    if (rivals[at] === place.id) at = (at + 1) % rivals.length;
    result.push({ id: rivals[at]!, logprob: logOf((1 - p) / 2 ** j) });
    at = (at + 1) % rivals.length;
  }
  return result;
}

/** Six digits after the point. */
function logOf(probability: number): number {
  return Math.round(Math.log(probability) * 1e6) / 1e6;
}
