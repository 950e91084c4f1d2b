import { RandomStream } from '@baton/kernel';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { findPromptWords } from './prompt-words';

/** A server whose tokenizer counts `cost` per word and puts `special` tokens before a prompt. */
function server(cost: (word: string) => number, special = 0) {
  let questions = 0;
  const count = (prompt: string): Promise<number> => {
    questions += 1;
    const words = prompt.trim().split(' ');
    return Promise.resolve(words.reduce((sum, word) => sum + cost(word), special));
  };
  return { tokenizer: { count }, questions: () => questions };
}

describe('words of prompts', () => {
  it('are one token each under o200k_base, in any order', async () => {
    const tokenizer = { count: () => Promise.resolve(undefined) };
    const { words, isConfirmed } = await findPromptWords(tokenizer);
    expect(isConfirmed).toBe(false);
    expect(words.length).toBeGreaterThan(1_000);
    for (const seed of [1, 2, 3]) {
      const random = RandomStream.root(seed).stream('words');
      const prompt = Array.from({ length: 500 }, () => words[random.integer(words.length)]!);
      expect(defaultTokenizer().encode(prompt.join('')), `seed ${seed}`).toHaveLength(500);
    }
  });

  it('are words of one token by the server’s count, found with few calls', async () => {
    const costs = (word: string): number => (word.endsWith('y') ? 3 : 1);
    const { tokenizer, questions } = server(costs, 2);
    const { words, specialTokens, isConfirmed } = await findPromptWords(tokenizer);
    expect({ specialTokens, isConfirmed }).toEqual({ specialTokens: 2, isConfirmed: true });
    expect(words.some((word) => word.endsWith('y'))).toBe(false);
    expect(words.length).toBeGreaterThanOrEqual(512);
    expect(questions()).toBeLessThan(450);
  });

  it('are not confirmed by a server that splits nearly all of them', async () => {
    const { tokenizer, questions } = server((word) => word.length);
    expect((await findPromptWords(tokenizer)).isConfirmed).toBe(false);
    expect(questions()).toBeLessThan(600);
  });
});
