import { BatonError } from '@baton/contract';
import type { Prompt } from '../generation-request';

/** Tokens of all prompts of one request: four of the longest of a model with 131,072. */
const MAX_TOKENS = 2 ** 19;

/** Counts the tokens of the prompts of one request while they are read. */
export class PromptTotal {
  private tokens = 0;

  /** @throws BatonError `request_too_complex` when they are too many */
  add({ ids }: Pick<Prompt, 'ids'>): void {
    this.tokens += ids.length;
    if (this.tokens > MAX_TOKENS) throw new BatonError('request_too_complex');
  }
}
