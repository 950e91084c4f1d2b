import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { planOutput } from './plan-output';
import { loadTokenizer, TOKENIZER_NAMES } from './tokenizers/named-tokenizers';
import { visibleText } from './visible-text';

describe.each(TOKENIZER_NAMES)('random words of %s', (name) => {
  const seeds = runsOf(30);
  const loading = loadTokenizer(name);
  const planned = async (seed: number, prompt: string, maxTokens = 120) => {
    const tokenizer = await loading;
    const plan = planOutput({
      tokenizer,
      promptIds: tokenizer.encode(prompt),
      model: 'm',
      seed,
      choice: 0,
      maxTokens,
      minTokens: 0,
      ignoreEos: false,
      includeStop: false,
      words: 'random',
      stop: [],
      stopTokenIds: [],
      lengthModel: () => 100,
    });
    return { plan, tokenizer, text: visibleText(tokenizer, plan) };
  };

  it('are real tokens, and a client counts as many', async () => {
    for (let seed = 0; seed < seeds; seed++) {
      const { plan, tokenizer, text } = await planned(seed, seed % 2 ? 'x' : 'x\n');
      expect([plan.count, plan.endReason]).toEqual([100, 'stop']);
      expect(tokenizer.encode(text), `seed ${seed}`).toEqual([...plan.tokenIds]);
    }
  });

  it('come from the whole vocabulary, and depend only on seed and prompt', async () => {
    const first = await planned(1, 'x', 90);
    expect((await planned(1, 'x', 90)).text).toBe(first.text);
    expect((await planned(2, 'x')).text).not.toBe(first.text);
    expect((await planned(1, 'y')).text).not.toBe(first.text);
    expect(new Set(first.plan.tokenIds).size).toBeGreaterThan(80);
  });
});
