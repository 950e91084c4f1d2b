import { describe, expect, it } from 'vitest';
import { generateMultiTurn } from './generate/multi-turn';
import { generateSingleTurn, type SharedPrefixes } from './generate/single-turn';
import { PromptContents } from './prompt-contents';
import type { Workload } from './workload';

const WORDS = 500;

function prompts(shared: SharedPrefixes, blockTokens: number, seed = 1): number[][] {
  const workload = generateSingleTurn({
    arrivalUs: new Float64Array(40),
    blockTokens,
    seed,
    shared,
    prompt: { kind: 'uniform', min: 60, max: 90 },
    output: { kind: 'constant', tokens: 5 },
  });
  return all(workload, seed);
}

function all(workload: Workload, seed: number): number[][] {
  const contents = new PromptContents(workload, seed, WORDS);
  return Array.from(workload.promptTokens, (_n, row) => Array.from(contents.prompt(row)));
}

function common(a: readonly number[], b: readonly number[]): number {
  const first = a.findIndex((word, i) => word !== b[i]);
  return first === -1 ? a.length : first;
}

const UNIFORM = { kind: 'uniform' } as const;

describe('contents of prompts', () => {
  it.each([1, 2, 3])('are shared exactly as far as their content ids agree (seed %i)', (seed) => {
    const shared = { prefixes: 3, popularity: UNIFORM, prefixTokens: 37 };
    const made = prompts(shared, 1, seed);
    const heads = new Set(made.map((prompt) => prompt.slice(0, 37).join()));
    expect(heads.size).toBe(3);
    for (const [i, prompt] of made.entries()) {
      expect(prompt.length).toBeGreaterThanOrEqual(97);
      expect(prompt.length).toBeLessThanOrEqual(127);
      expect(Math.max(...prompt)).toBeLessThan(WORDS);
      for (const other of made.slice(0, i)) {
        // The first private words of two prompts may agree by chance, once in 500 cases.
        const length = common(prompt, other);
        expect(length < 2 || (length >= 37 && length < 40)).toBe(true);
      }
    }
  });

  it('are equal for equal seeds, in any order of calls', () => {
    const shared = { prefixes: 2, popularity: UNIFORM, share: 0.5 };
    expect(prompts(shared, 16, 5)).toEqual(prompts(shared, 16, 5));
    expect(prompts(shared, 16, 5)).not.toEqual(prompts(shared, 16, 6));
  });

  it('of a turn begin with the contents of the turn before', () => {
    const workload = generateMultiTurn({
      arrivalUs: new Float64Array(2),
      count: 6,
      systemTokens: 32,
      seed: 1,
      blockTokens: 16,
      thinkTimeMeanUs: 0,
      maxContextTokens: Infinity,
      turns: { kind: 'constant', tokens: 3 },
      message: { kind: 'constant', tokens: 48 },
      output: { kind: 'constant', tokens: 16 },
    });
    const [first = [], second = [], , other = []] = all(workload, 1);
    expect(common(first, second)).toBe(first.length);
    expect(common(first, other)).toBe(32);
  });
});
