import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestLimits } from '../limits';
import { parseCompletion } from './parse-completion';

const tokenizer = defaultTokenizer();
const limits: RequestLimits = {
  dialect: 'openai',
  tokenizer,
  models: ['m', 'alias', 'adapter'],
  aliases: ['alias'],
  maxModelLen: 100,
};
const parse = (body: object, more: Partial<RequestLimits> = {}) =>
  parseCompletion(body, { ...limits, ...more });
const textIds = (text: string) => Int32Array.from(tokenizer.encode(text));

function refusal(body: object, more: Partial<RequestLimits> = {}): BatonError {
  try {
    parse(body, more);
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  return expect.fail(`accepted: ${JSON.stringify(body)}`);
}

describe('prompts', () => {
  it('have at most 524,288 tokens together, or the context of a longer model', () => {
    const ids = Array.from({ length: 2 ** 18 }, () => 1);
    const tokensOf = (prompt: number[][], maxModelLen: number): number =>
      parse({ prompt, max_tokens: 1 }, { maxModelLen }).prompts.reduce(
        (sum, one) => sum + one.ids.length,
        0,
      );
    expect(tokensOf([ids, ids], 300_000)).toBe(2 ** 19);
    const beyond = [...ids, ...ids, 1];
    expect(refusal({ prompt: [ids, ids, [1]] }, { maxModelLen: 300_000 }).code).toBe(
      'request_too_complex',
    );
    expect(tokensOf([beyond], 1_000_000)).toBe(2 ** 19 + 1);
  });

  it.each([
    ['a text', 'Hello', [textIds('Hello')]],
    ['texts', ['a b', 'c'], [textIds('a b'), textIds('c')]],
    ['token ids', [1, 2, 3], [Int32Array.of(1, 2, 3)]],
    ['lists of token ids', [[1], [2, 3]], [Int32Array.of(1), Int32Array.of(2, 3)]],
    ['an empty text', '', [Int32Array.of(199_999)]],
  ])('may be %s', (_name, prompt, ids) => {
    expect(parse({ prompt }).prompts.map((one) => one.ids)).toEqual(ids);
  });

  it.each([
    ['missing', {}],
    ['null', { prompt: null }],
    ['an empty list', { prompt: [] }],
    ['a list with an empty list', { prompt: [[1], []] }],
    ['of unknown ids', { prompt: [1, 300_000] }],
    ['an id that is a hole of the vocabulary', { prompt: [199_998] }],
  ])('are refused when %s', (_name, body) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_value', param: 'prompt' });
  });

  it.each([5, {}, [1, 'a'], ['a', 1], [1.5], [-1], [[1], ['a']], [null], true])(
    'are refused as malformed: %j',
    (prompt) => expect(refusal({ prompt }).code).toBe('invalid_type'),
  );

  it('are at most 1024', () => {
    expect(parse({ prompt: Array.from({ length: 1024 }, () => 'a') }).prompts).toHaveLength(1024);
    expect(refusal({ prompt: Array.from({ length: 1025 }, () => 'a') }).param).toBe('prompt');
  });
});

describe('defaults and limits', () => {
  it('are those of vLLM', () => {
    expect(parse({ prompt: 'x' })).toMatchObject({
      endpoint: 'completions',
      model: 'm',
      choices: 1,
      stream: false,
      includeUsage: false,
      continuousUsage: false,
      seed: undefined,
      minTokens: 0,
      ignoreEos: false,
      stop: [],
      stopTokenIds: [],
      includeStop: false,
      logprobs: undefined,
      echo: false,
      returnTokenIds: false,
      kvTransferParams: undefined,
      priority: 0,
      engineParameters: undefined,
      prompts: [{ maxTokens: 16, echoText: undefined, hidesOutput: false }],
    });
  });

  it('null means the default, for every field', () => {
    const fields = ['max_tokens', 'n', 'temperature', 'stop', 'logprobs', 'seed', 'stream'];
    const nulls = Object.fromEntries([...fields, 'stream_options'].map((name) => [name, null]));
    expect(parse({ prompt: 'x', ...nulls })).toEqual(parse({ prompt: 'x' }));
  });

  it('a seed of -1 means none', () => {
    expect(parse({ prompt: 'x', seed: -1 }).seed).toBeUndefined();
    expect(parse({ prompt: 'x', seed: 0 }).seed).toBe(0);
  });

  it('an alias is answered under the first name, an adapter under its own', () => {
    expect(parse({ prompt: 'x' }).model).toBe('m');
    expect(parse({ prompt: 'x', model: 'alias' }).model).toBe('m');
    expect(parse({ prompt: 'x', model: 'adapter' }).model).toBe('adapter');
    expect(refusal({ prompt: 'x', model: 'other' }).code).toBe('model_not_found');
  });

  it('echo with max_tokens 0 computes one hidden token; alone 0 is refused', () => {
    const [prompt] = parse({ prompt: 'Hi', echo: true, max_tokens: 0 }).prompts;
    expect(prompt).toMatchObject({ maxTokens: 1, hidesOutput: true, echoText: 'Hi' });
    expect(refusal({ prompt: 'Hi', max_tokens: 0 }).param).toBe('max_tokens');
  });

  it('streams the log-probabilities of a short prompt, and refuses those of a long one', () => {
    const body = { prompt: Array<number>(50).fill(1_000), echo: true, logprobs: 20 };
    expect(parse({ ...body, stream: true, n: 7 }).logprobs).toBe(20);
    expect(() => parse({ ...body, stream: true, n: 8 })).toThrow('too complex');
    expect(parse({ ...body, n: 8 }).logprobs).toBe(20);
  });

  it('echo of token ids is their text', () => {
    const prompt = tokenizer.encode('Grüße');
    expect(parse({ prompt, echo: true }).prompts[0]?.echoText).toBe('Grüße');
  });

  it('prompt and output must fit the context together, exactly', () => {
    const prompt = Array.from({ length: 60 }, () => 5);
    expect(parse({ prompt, max_tokens: 40 }).prompts[0]?.maxTokens).toBe(40);
    expect(refusal({ prompt, max_tokens: 41 }).code).toBe('context_length_exceeded');
    expect(refusal({ prompt, max_tokens: 101 })).toMatchObject({ param: 'max_tokens' });
  });

  it('prompt and output must fit the KV cache of an engine', () => {
    const more = { kvCapacityTokens: 50 };
    expect(parse({ prompt: [1, 2], max_tokens: 48 }, more).prompts).toHaveLength(1);
    expect(refusal({ prompt: [1, 2], max_tokens: 49 }, more).code).toBe('kv_capacity_exceeded');
  });

  it('several greedy choices are served in one dialect only', () => {
    const body = { prompt: 'x', n: 2, temperature: 0 };
    expect(parse(body).choices).toBe(2);
    expect(refusal(body, { dialect: 'vllm' }).message).toContain('greedy');
  });

  it.each([
    [{ min_tokens: 17 }, 'min_tokens'],
    [{ min_tokens: -1 }, 'min_tokens'],
    [{ n: 0 }, 'n'],
    [{ n: 20_000 }, 'n'],
    [{ n: 9000, prompt: ['a', 'b'] }, 'n'],
    [{ top_p: 0 }, 'top_p'],
    [{ top_p: 1.1 }, 'top_p'],
    [{ top_k: -2 }, 'top_k'],
    [{ min_p: 1.5 }, 'min_p'],
    [{ presence_penalty: 2.1 }, 'presence_penalty'],
    [{ frequency_penalty: -3 }, 'frequency_penalty'],
    [{ repetition_penalty: 0 }, 'repetition_penalty'],
    [{ logprobs: 21 }, 'logprobs'],
    [{ logprobs: -1 }, 'logprobs'],
    [{ logprobs: -2 }, 'logprobs'],
    [{ prompt_logprobs: 1, stream: true }, 'prompt_logprobs'],
    [{ stop_token_ids: [-1] }, 'stop_token_ids'],
    [{ cache_salt: '' }, 'cache_salt'],
    [{ stream_options: {} }, 'stream_options'],
    [{ cache_hit_threshold: 1.01 }, 'cache_hit_threshold'],
    [{ cache_hit_threshold: -0.1 }, 'cache_hit_threshold'],
    [{ suffix: 'b' }, 'suffix'],
  ])('%j is refused', (fields, param) => {
    expect(refusal({ prompt: 'a', ...fields })).toMatchObject({ code: 'invalid_value', param });
  });
});

describe('types', () => {
  const wrong: Record<string, unknown[]> = {
    max_tokens: [1.9, '5', true, Infinity, [], {}],
    temperature: ['0.5', Infinity, true, []],
    stop: [5, [1], {}, ['a', 'b', 'c', 'd', 'e']],
    n: ['1', 1.5],
    stream: ['true', 1],
    stream_options: ['x', [], { include_usage: 1 }],
    seed: [1.5, 'a'],
    logprobs: [true, '2'],
    echo: ['yes'],
    user: [5],
    kv_transfer_params: ['x', []],
    cache_hit_threshold: ['0.5', true],
    model: [5, []],
  };

  it('are never converted', () => {
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const error = refusal({ prompt: 'a', stream: true, [field]: value });
        expect([error.code, error.param?.split(/[.[]/)[0]]).toEqual(['invalid_type', field]);
      }
    }
  });

  it('of unknown fields are not checked', () => {
    const ignored = {
      guided_decoding_backend: 'xgrammar',
      foo: [1],
      vllm_xargs: { a: 1 },
      metadata: 7,
    };
    const vllm = { dialect: 'vllm' } as const;
    expect(parse({ prompt: 'x', ...ignored }, vllm)).toEqual(parse({ prompt: 'x' }, vllm));
  });

  it('any JSON value as a body is accepted or refused without a crash', () => {
    const known = ['prompt', 'max_tokens', 'stop', 'n', 'stream', 'logprobs', 'constructor'];
    const body = fc.dictionary(fc.constantFrom(...known, '__proto__', 'x'), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(body, fc.jsonValue()), (value) => {
        try {
          parseCompletion(JSON.parse(JSON.stringify(value)) as unknown, limits);
        } catch (error) {
          expect(error).toBeInstanceOf(BatonError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
