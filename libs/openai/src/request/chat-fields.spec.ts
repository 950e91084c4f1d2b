import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { RequestLimits } from '../limits';
import { parseChat } from './parse-chat';
import { parseCompletion } from './parse-completion';

const tokenizer = defaultTokenizer();
const limits: RequestLimits = { dialect: 'openai', tokenizer, models: ['m'], maxModelLen: 200 };
const messages = [{ role: 'user', content: 'Hi' }];
const chat = (body: object, more: Partial<RequestLimits> = {}) =>
  parseChat({ messages, ...body }, { ...limits, ...more });
const complete = (body: object, more: Partial<RequestLimits> = {}) =>
  parseCompletion({ prompt: 'Hi', ...body }, { ...limits, ...more });

function refusalOf(parse: () => unknown): BatonError {
  try {
    parse();
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  return expect.fail('accepted');
}

describe('reasoning', () => {
  const able = { isReasoning: true };

  it('has the length of reasoning_effort, medium by default', () => {
    const effortOf = (effort?: string) =>
      chat({ reasoning_effort: effort }, able).reasoning?.effort;
    expect(effortOf()).toBe(1);
    expect(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map(effortOf)).toEqual([
      0.125, 0.4, 1, 2.5, 4, 6,
    ]);
    expect(effortOf('none')).toBeUndefined();
  });

  it('can be switched off by a template argument, limited, and hidden', () => {
    const of = (body: object) => chat(body, able).reasoning;
    expect(of({ chat_template_kwargs: { enable_thinking: false } })).toBeUndefined();
    expect(of({ chat_template_kwargs: { thinking: false } })).toBeUndefined();
    expect(of({ chat_template_kwargs: { enable_thinking: true, x: 1 } })).toBeDefined();
    expect(of({ thinking_token_budget: 0 })).toBeUndefined();
    expect(of({ thinking_token_budget: 9 })?.maxTokens).toBe(9);
    expect(of({ thinking_token_budget: -1 })?.maxTokens).toBe(Infinity);
    expect(of({ include_reasoning: false })?.isShown).toBe(false);
  });

  it('does not exist for a model that does not reason', () => {
    expect(chat({ reasoning_effort: 'high' }).reasoning).toBeUndefined();
  });

  it.each([
    [{ reasoning_effort: 'extreme' }, 'reasoning_effort'],
    [{ thinking_token_budget: -2 }, 'thinking_token_budget'],
  ])('%j is refused', (body, param) => {
    expect(refusalOf(() => chat(body))).toMatchObject({ code: 'invalid_value', param });
  });
});

describe.each([
  ['chat', chat],
  ['completions', complete],
] as const)('of %s,', (_name, parse) => {
  it.each([
    ['logit_bias', { logit_bias: { '5': -100, '6': 100 } }],
    ['bad_words', { bad_words: ['x'] }],
    ['allowed_token_ids', { allowed_token_ids: [1, 2] }],
  ])('%s steers the text', (_field, body) => {
    expect(parse(body).steering).toBeDefined();
    expect(parse({ logit_bias: {}, bad_words: [] }).steering).toBeUndefined();
  });

  it('a bias beyond 100 is refused, or clamped as vLLM does', () => {
    const body = { logit_bias: { '5': 101 } };
    expect(refusalOf(() => parse(body)).param).toBe('logit_bias.5');
    expect(parse(body, { dialect: 'vllm' }).steering?.bias.get(5)).toBe(100);
  });

  it.each([
    [{ logit_bias: { x: 1 } }, 'logit_bias.x', 'named by a token id'],
    [{ logit_bias: { '300000': 1 } }, 'logit_bias', 'out-of-vocab'],
    [{ bad_words: [''] }, 'bad_words', 'empty string'],
    [{ allowed_token_ids: [] }, 'allowed_token_ids', 'empty'],
    [{ allowed_token_ids: [-1] }, 'allowed_token_ids', 'out-of-vocab'],
    [{ stop_token_ids: [300_000] }, 'stop_token_ids', 'out-of-vocab'],
    [{ truncate_prompt_tokens: 0 }, 'truncate_prompt_tokens', 'at least 1'],
    [{ truncate_prompt_tokens: -2 }, 'truncate_prompt_tokens', 'at least 1'],
    [{ truncate_prompt_tokens: 201 }, 'truncate_prompt_tokens', 'max_model_len'],
    [{ truncation_side: 'top' }, 'truncation_side', "'left' and 'right'"],
    [{ service_tier: 'gold' }, 'service_tier', 'Supported values'],
    [{ n: 3, best_of: 2 }, 'best_of', 'greater than or equal to n'],
    [{ best_of: 0 }, 'best_of', 'value >= 1'],
  ])('%j is refused', (body, param, message) => {
    const error = refusalOf(() => parse(body));
    expect(error).toMatchObject({ code: 'invalid_value', param });
    expect(error.message).toContain(message);
  });

  it.each([
    [{ logit_bias: { '5': 'x' } }, 'logit_bias.5'],
    [{ logit_bias: [] }, 'logit_bias'],
    [{ bad_words: 'x' }, 'bad_words'],
    [{ bad_words: Array.from({ length: 129 }, () => 'x') }, 'bad_words'],
    [{ stop_token_ids: Array.from({ length: 1_025 }, () => 1) }, 'stop_token_ids'],
    [{ allowed_token_ids: ['1'] }, 'allowed_token_ids[0]'],
    [{ best_of: 1.5 }, 'best_of'],
    [{ response_format: 'json' }, 'response_format'],
    [{ response_format: {} }, 'response_format.type'],
    [{ structured_outputs: [] }, 'structured_outputs'],
    [{ service_tier: 1 }, 'service_tier'],
  ])('%j has the wrong shape', (body, param) => {
    expect(refusalOf(() => parse(body))).toMatchObject({ code: 'invalid_type', param });
  });

  it('truncate_prompt_tokens keeps the end of the prompt, or its beginning', () => {
    const whole = [...parse({}).prompts[0]!.ids];
    const of = (body: object) => [...parse(body).prompts[0]!.ids];
    expect(of({ truncate_prompt_tokens: 1 })).toEqual(whole.slice(-1));
    expect(of({ truncate_prompt_tokens: 1, truncation_side: 'right' })).toEqual(whole.slice(0, 1));
    expect(of({ truncate_prompt_tokens: -1 })).toEqual(whole);
  });

  it('a requested tier is in the answer, auto as default', () => {
    expect(parse({ service_tier: 'auto' }).serviceTier).toBe('default');
    expect(parse({ service_tier: 'flex' }).serviceTier).toBe('flex');
    expect(parse({}).serviceTier).toBeUndefined();
  });
});

describe('truncation of a long completion prompt', () => {
  it('gives the last tokens of the whole text', () => {
    const text = 'It was a dark and stormy night; the rain fell in torrents. '.repeat(2000);
    const whole = tokenizer.encode(text);
    for (const length of [1, 50, 190]) {
      const body = { prompt: text, max_tokens: 5, truncate_prompt_tokens: length };
      expect([...complete(body).prompts[0]!.ids]).toEqual(whole.slice(-length));
    }
    const right = {
      prompt: text,
      max_tokens: 5,
      truncate_prompt_tokens: 9,
      truncation_side: 'right',
    };
    expect([...complete(right).prompts[0]!.ids]).toEqual(whole.slice(0, 9));
    const ids = { prompt: whole, max_tokens: 5, truncate_prompt_tokens: 9 };
    expect([...complete(ids).prompts[0]!.ids]).toEqual(whole.slice(-9));
  });

  it('is shown by echo', () => {
    const body = { prompt: 'one two three', echo: true, truncate_prompt_tokens: 1 };
    expect(complete(body).prompts[0]!.echoText).toBe(' three');
  });
});

describe('best_of', () => {
  it('is decoded by completions and shows n of them', () => {
    expect(complete({ n: 2, best_of: 5 })).toMatchObject({ choices: 5, shownChoices: 2 });
    expect(complete({ n: 2 })).toMatchObject({ choices: 2, shownChoices: 2 });
  });

  it('cannot be streamed by completions when it is more than n', () => {
    expect(refusalOf(() => complete({ best_of: 2, stream: true })).param).toBe('best_of');
    expect(complete({ n: 2, best_of: 2, stream: true }).choices).toBe(2);
  });

  it('has no effect in chat', () => {
    expect(chat({ n: 2, best_of: 5, stream: true })).toMatchObject({ choices: 2, shownChoices: 2 });
  });
});

describe('suffix', () => {
  it('is refused unless it is empty', () => {
    expect(refusalOf(() => complete({ suffix: 'x' })).param).toBe('suffix');
    expect(complete({ suffix: '' }).choices).toBe(1);
  });
});
