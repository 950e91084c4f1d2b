import { defaultTokenizer } from '@baton/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../refusal/dialect';
import type { RequestLimits } from '../limits';
import { parseClassify, parseEmbeddings, parsePooling } from './parse-embeddings';
import type { PoolingContext } from './pooling-task';
import { embedText, similarity } from './text-embedding';

const tokenizer = defaultTokenizer();
const SPACE = { seed: 7, dimensions: 256 };
const HEAD = { id: 'embd-1', created: 1_787_000_000, model: 'm', systemFingerprint: 'f' };

function contextOf(dialect: Dialect = 'openai', limits: Partial<RequestLimits> = {}) {
  return {
    space: SPACE,
    limits: { dialect, tokenizer, models: ['m'], maxModelLen: 64, ...limits },
  } satisfies PoolingContext;
}

interface List {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly usage: { readonly prompt_tokens: number };
}

function embed(body: object, context = contextOf()): List {
  return JSON.parse(parseEmbeddings(body, context).render(HEAD)) as List;
}

function vectors(body: object): number[][] {
  return embed(body).data.map(({ embedding }) => embedding as number[]);
}

describe('an embedding', () => {
  it('is a unit vector, and equal for equal texts', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), (text) => {
        const vector = embedText(text, SPACE, 256);
        expect(similarity(vector, vector)).toBeCloseTo(1, 5);
        expect(embedText(text, SPACE, 256)).toEqual(vector);
      }),
      { seed: 11 },
    );
  });

  it('is nearer to that of a similar text than to that of another', () => {
    const of = (text: string): Float32Array => embedText(text, SPACE, 256);
    const runner = of('the runner hands the baton to the next runner');
    const like = similarity(runner, of('a runner hands over the baton to another runner'));
    const unlike = similarity(runner, of('invoices are paid within thirty days'));
    expect(like).toBeGreaterThan(0.6);
    expect(unlike).toBeLessThan(0.3);
  });

  it('is not zero for a text without letters or with few dimensions', () => {
    for (const text of ['...', ' ', '🏃', 'a']) {
      for (const kept of [1, 2, 256]) {
        const vector = embedText(text, SPACE, kept);
        expect(similarity(vector, vector)).toBeCloseTo(1, 5);
      }
    }
  });

  it('is the scaled beginning of a longer vector', () => {
    const whole = embedText('the baton', SPACE, 256);
    const short = embedText('the baton', SPACE, 64);
    const ratio = short[0]! / whole[0]!;
    expect(
      Array.from(short, (v, i) => v - whole[i]! * ratio).every((d) => Math.abs(d) < 1e-5),
    ).toBe(true);
  });
});

describe('POST /v1/embeddings', () => {
  it('gives the same vectors for token ids, texts and lists of either', () => {
    const ids = tokenizer.encode('hand over the baton');
    const [a] = vectors({ input: 'hand over the baton' });
    for (const input of [ids, ['hand over the baton'], [ids]]) {
      expect(vectors({ input })[0]).toEqual(a);
    }
  });

  it('encodes base64 as little-endian float32', () => {
    const [floats] = vectors({ input: 'x', dimensions: 8 });
    const text = embed({ input: 'x', dimensions: 8, encoding_format: 'base64' }).data[0]?.embedding;
    const bytes = Buffer.from(text as string, 'base64');
    expect(bytes.length).toBe(32);
    expect(floats).toEqual(Array.from({ length: 8 }, (_, i) => bytes.readFloatLE(i * 4)));
  });

  it('counts the tokens of all inputs', () => {
    expect(embed({ input: ['a b c', 'd'] }).usage.prompt_tokens).toBe(4);
  });

  it('accepts a conversation as one input', () => {
    const task = parseEmbeddings({ messages: [{ role: 'user', content: 'hi' }] }, contextOf());
    expect(task.request.prompts).toHaveLength(1);
  });

  it('has the envelope of the dialect', () => {
    const shape = (dialect: Dialect): string =>
      parseEmbeddings({ input: 'x', dimensions: 1 }, contextOf(dialect)).render(HEAD);
    expect(shape('openai')).toBe(
      '{"object":"list","data":[{"index":0,"object":"embedding","embedding":[-1]}],' +
        '"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}',
    );
    expect(shape('vllm')).toBe(
      '{"id":"embd-1","object":"list","created":1787000000,"model":"m","data":[{"index":0,' +
        '"object":"embedding","embedding":[-1]}],' +
        '"usage":{"prompt_tokens":1,"total_tokens":1,"completion_tokens":0,' +
        '"prompt_tokens_details":null}}',
    );
  });

  it.each([
    ['no input', {}, 'input'],
    ['an empty list', { input: [] }, 'input'],
    ['an empty text', { input: '' }, 'input'],
    ['an empty text in a list', { input: ['a', ''] }, 'input[1]'],
    ['an input of another type', { input: { text: 'a' } }, 'input'],
    ['a list of mixed types', { input: ['a', 1] }, 'input[1]'],
    ['a token id of no token', { input: [99_999_999] }, 'input'],
    ['too many inputs', { input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    ['no dimension', { input: 'a', dimensions: 0 }, 'dimensions'],
    ['more dimensions than there are', { input: 'a', dimensions: 257 }, 'dimensions'],
    ['half a dimension', { input: 'a', dimensions: 1.5 }, 'dimensions'],
    ['an unknown encoding', { input: 'a', encoding_format: 'bytes' }, 'encoding_format'],
    ['another number format', { input: 'a', embed_dtype: 'float16' }, 'embed_dtype'],
    ['big-endian numbers', { input: 'a', endianness: 'big' }, 'endianness'],
    ['the removed normalize', { input: 'a', normalize: false }, 'normalize'],
    ['a truncation below -1', { input: 'a', truncate_prompt_tokens: -2 }, 'truncate_prompt_tokens'],
  ])('refuses %s', (_, body, param) => {
    expect(() => parseEmbeddings(body, contextOf())).toThrow(expect.objectContaining({ param }));
  });

  it('accepts values at the limits', () => {
    expect(vectors({ input: 'a', dimensions: 256 })[0]).toHaveLength(256);
    expect(vectors({ input: Array.from({ length: 2048 }, () => 'a'), dimensions: 1 })).toHaveLength(
      2048,
    );
  });

  it('accepts a prompt that fills the context, and refuses one token more', () => {
    const filled = { input: Array.from({ length: 64 }, () => 1) };
    const task = parseEmbeddings(filled, contextOf());
    expect(task.request.prompts[0]?.ids).toHaveLength(63);
    const more = { input: Array.from({ length: 65 }, () => 1) };
    for (const dialect of ['openai', 'vllm'] as const) {
      expect(() => parseEmbeddings(more, contextOf(dialect))).toThrow(
        /maximum context length is 64/,
      );
    }
    expect(() =>
      parseEmbeddings({ ...more, truncate_prompt_tokens: -1 }, contextOf()),
    ).not.toThrow();
  });

  it('passes on the fields for routing through the cluster', () => {
    const body = { input: 'a', priority: 3, cache_salt: 's', request_id: 'r', user: 'u' };
    expect(parseEmbeddings(body, contextOf()).request).toMatchObject({
      priority: 3,
      cacheSalt: 's',
      requestId: 'r',
      user: 'u',
    });
  });

  it('limits the tokens of all inputs together', () => {
    const context = contextOf('openai', { maxModelLen: 200_000 });
    const inputs = (...lengths: number[]): object => ({
      input: lengths.map((length) => Array.from({ length }, () => 1)),
    });
    expect(() => parseEmbeddings(inputs(150_000, 150_000), context)).not.toThrow();
    expect(() => parseEmbeddings(inputs(150_000, 150_001), context)).toThrow(/300000 tokens/);
  });

  it('refuses a misspelled field in the openai dialect, unless unknown fields are accepted', () => {
    const body = { input: 'a', dimension: 8 };
    expect(() => parseEmbeddings(body, contextOf())).toThrow(
      expect.objectContaining({ param: 'dimension' }),
    );
    const accepting = contextOf('openai', { acceptsUnknownFields: true });
    expect(() => parseEmbeddings(body, accepting)).not.toThrow();
    expect(() => parseEmbeddings(body, contextOf('vllm'))).not.toThrow();
  });

  it('accepts the fields that clients of vLLM and SGLang send', () => {
    const body = {
      model: 'm',
      input: 'a',
      user: 'u',
      encoding_format: 'float',
      dimensions: 8,
      truncate_prompt_tokens: -1,
      truncation_side: 'left',
      priority: 0,
      request_id: 'r',
      additional_data: {},
      add_special_tokens: true,
      mm_processor_kwargs: {},
      chat_template: 'x',
      chat_template_kwargs: {},
      media_io_kwargs: {},
      cache_salt: 's',
      add_generation_prompt: false,
      continue_final_message: false,
      rid: 'r',
      nvext: {},
      embed_dtype: 'float32',
      endianness: 'native',
      use_activation: true,
      padding: null,
    };
    expect(() => parseEmbeddings(body, contextOf())).not.toThrow();
  });

  it('refuses an unknown model', () => {
    expect(() => parseEmbeddings({ model: 'n', input: 'a' }, contextOf())).toThrow(
      expect.objectContaining({ code: 'model_not_found' }),
    );
  });
});

describe('POST /pooling and /classify', () => {
  it('gives the vector of the embedding', () => {
    const body = { input: 'x', dimensions: 4 };
    const pooled = JSON.parse(parsePooling(body, contextOf()).render(HEAD)) as {
      data: { object: string; data: number[] }[];
    };
    expect(pooled.data[0]).toMatchObject({ object: 'pooling', data: vectors(body)[0] });
  });

  it('classifies into labels whose probabilities sum to one', () => {
    const body = { input: ['a fine day', 'a bad day', 'x'] };
    const { data } = JSON.parse(parseClassify(body, contextOf('vllm')).render(HEAD)) as {
      data: { index: number; label: string; probs: [number, number]; num_classes: number }[];
    };
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const { label, probs, num_classes } of data) {
      expect(num_classes).toBe(2);
      expect(probs[0] + probs[1]).toBeCloseTo(1, 6);
      expect(label).toBe(probs[1] > probs[0] ? 'LABEL_1' : 'LABEL_0');
    }
  });
});
