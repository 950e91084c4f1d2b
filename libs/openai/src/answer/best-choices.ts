import { assert } from '@baton/kernel';
import { type Tokenizer, tokenLogprobs } from '@baton/text';
import type { GenerationRequest, Prompt } from '../generation-request';
import type { FinishedSequence } from './render-final';

export interface ChosenSequence {
  readonly result: FinishedSequence;
  readonly prompt: Prompt;
}

/**
 * The sequences that an answer shows, in order: all, or per prompt the `n` of `best_of` with the
 * highest log-probability per token.
 */
export function chosenSequences(
  request: GenerationRequest,
  results: readonly FinishedSequence[],
  tokenizer: Tokenizer,
): ChosenSequence[] {
  const { choices, shownChoices, prompts } = request;
  const all = results.map((result, i) => {
    const prompt = prompts[Math.floor(i / choices)];
    assert(prompt !== undefined, 'every result belongs to a prompt');
    return { result, prompt };
  });
  if (shownChoices === choices) return all;
  return prompts.flatMap((_prompt, i) => {
    const own = all.slice(i * choices, (i + 1) * choices);
    const rated = own.map((one) => ({ one, rating: likelihood(one.result, tokenizer) }));
    return rated
      .sort((a, b) => b.rating - a.rating)
      .slice(0, shownChoices)
      .map(({ one }) => one);
  });
}

function likelihood({ plan, count }: FinishedSequence, tokenizer: Tokenizer): number {
  let sum = 0;
  for (let index = 0; index < count; index++) {
    const place = { hash: plan.hash, index, id: plan.tokenIds[index]! };
    sum += tokenLogprobs(tokenizer, place, 0)[0]!.logprob;
  }
  return count === 0 ? -Infinity : sum / count;
}
