import { planOutput, defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { packPlans, unpackPlans } from './packed-plans';

const tokenizer = defaultTokenizer();

function planOf(choice: number, stop: readonly string[]): ReturnType<typeof planOutput> {
  return planOutput({
    tokenizer,
    promptIds: [1, 2, 3],
    model: 'm',
    seed: 7,
    choice,
    maxTokens: 20,
    minTokens: 0,
    ignoreEos: false,
    stop,
    stopTokenIds: [],
    includeStop: false,
    lengthModel: () => 5 + choice,
  });
}

describe('packed plans', () => {
  it('unpack to the same plans, also after a copy', () => {
    const plans = [0, 1, 2].map((choice) => planOf(choice, choice === 1 ? ['e'] : []));
    expect(unpackPlans(structuredClone(packPlans(plans)))).toEqual(plans);
  });
});
