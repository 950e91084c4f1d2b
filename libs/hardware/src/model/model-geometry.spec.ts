import { describe, expect, it } from 'vitest';
import { findModel, MODELS } from './model-catalogue';
import { activeParameterCount, parameterCount } from './model-geometry';

/**
 * Billions of parameters as the publishers give them; active ones where a token passes only a part.
 */
const PUBLISHED: Readonly<Record<string, readonly [total: number, active?: number]>> = {
  'llama-3.2-1b': [1.24],
  'llama-3.2-3b': [3.21],
  'llama-3.1-8b': [8.03],
  'llama-3.1-70b': [70.6],
  'llama-3.1-405b': [405.9],
  'llama-2-70b': [69],
  'qwen3-0.6b': [0.6],
  'qwen3-4b': [4.02],
  'qwen3-8b': [8.19],
  'qwen3-14b': [14.8],
  'qwen3-32b': [32.8],
  'qwen3-30b-a3b': [30.5, 3.3],
  'qwen3-235b-a22b': [235.1, 22],
  'mixtral-8x7b': [46.7, 12.9],
  'gpt-oss-20b': [20.9, 3.6],
  'gpt-oss-120b': [116.8, 5.1],
  'deepseek-v3': [671, 37],
  'opt-13b': [12.85],
  'qwen2.5-0.5b': [0.49],
  'qwen2.5-1.5b': [1.54],
  'qwen2.5-3b': [3.09],
  'qwen2.5-7b': [7.62],
  'qwen2.5-14b': [14.77],
  'qwen2.5-32b': [32.76],
  'qwen2.5-72b': [72.7],
  'qwen3-1.7b': [1.72],
  'mistral-7b': [7.25],
  'mistral-nemo-12b': [12.25],
  'mistral-small-24b': [23.57],
  'mistral-large-123b': [122.6],
  'gemma-2-9b': [9.24],
  'gemma-2-27b': [27.23],
  'gemma-3-4b': [3.88],
  'gemma-3-12b': [11.77],
  'gemma-3-27b': [27.0],
  'phi-4': [14.66],
  'llama-2-7b': [6.74],
  'llama-2-13b': [13.02],
  'qwen3-coder-480b-a35b': [480, 35],
  'mixtral-8x22b': [141, 39],
  'kimi-k2': [1026, 32],
  'kimi-k2.5': [1026, 32],
  'minimax-m2': [230, 10],
  'glm-4.5': [355, 32],
  'glm-4.5-air': [106, 12],
  'llama-4-scout-17b-16e': [109, 17],
  'llama-4-maverick-17b-128e': [400, 17],
  'opt-66b': [65.7],
};

const billions = (parameters: number) => parameters / 1e9;

describe('parameterCount', () => {
  it('is compared for every model', () => {
    expect(MODELS.map((model) => model.name).sort()).toEqual(Object.keys(PUBLISHED).sort());
  });

  it.each(Object.entries(PUBLISHED))(
    'of %s is within 3 %% of the published one',
    (name, [total]) => {
      expect(Math.abs(billions(parameterCount(findModel(name))) / total - 1)).toBeLessThan(0.03);
    },
  );
});

describe('activeParameterCount', () => {
  // gpt-oss publishes active counts without its embedding, and 3 % of 3.3 is less than what
  // rounding hides.
  it.each(Object.entries(PUBLISHED).filter(([, [, active]]) => active !== undefined))(
    'of %s is within 20 %% of the published one',
    (name, [, active]) => {
      const count = billions(activeParameterCount(findModel(name)));
      expect(Math.abs(count / active! - 1)).toBeLessThan(0.2);
    },
  );

  it('equals all parameters of a dense model', () => {
    const model = findModel('llama-3.1-8b');
    expect(activeParameterCount(model)).toBe(parameterCount(model));
  });
});
