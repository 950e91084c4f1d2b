import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { parseRerank, parseScore } from './parse-score';

const CONTEXT = {
  space: { seed: 0, dimensions: 512 },
  limits: {
    dialect: 'vllm' as const,
    tokenizer: defaultTokenizer(),
    models: ['m'],
    maxModelLen: 64,
  },
};
const HEAD = { id: 'score-1', created: 1_787_000_000, model: 'm', systemFingerprint: 'f' };
const QUERY = 'who hands over the baton';
const DOCUMENTS = ['invoices are paid late', 'the first runner hands over the baton', QUERY];

interface Ranked {
  readonly results: readonly { index: number; relevance_score: number; document: object }[];
}

function scores(body: object): number[] {
  const { data } = JSON.parse(parseScore(body, CONTEXT).render(HEAD)) as {
    data: { score: number }[];
  };
  return data.map(({ score }) => score);
}

function rerank(body: object): Ranked {
  return JSON.parse(parseRerank({ query: QUERY, ...body }, CONTEXT).render(HEAD)) as Ranked;
}

describe('POST /score', () => {
  it.each([
    ['queries', 'documents'],
    ['queries', 'items'],
    ['data_1', 'data_2'],
    ['text_1', 'text_2'],
  ])('compares %s with %s, with higher scores for more likeness', (first, second) => {
    const [unlike = 1, like = 0, equal = 0] = scores({ [first]: QUERY, [second]: DOCUMENTS });
    expect(unlike).toBeLessThan(0.2);
    expect(like).toBeGreaterThan(0.5);
    expect(equal).toBeGreaterThan(0.95);
  });

  it('compares N with N pair by pair', () => {
    const [a, b] = scores({ text_1: ['x y', 'one'], text_2: ['x y', 'two'] });
    expect(a).toBeGreaterThan(b ?? 1);
  });

  it('writes vLLM’s list', () => {
    const answer = parseScore({ text_1: 'x', text_2: 'x' }, CONTEXT).render(HEAD);
    expect(answer).toMatch(
      new RegExp(
        String.raw`^\{"id":"score-1","object":"list","created":1787000000,"model":"m",` +
          String.raw`"data":\[\{"index":0,"object":"score","score":0\.99\d+\}\],` +
          String.raw`"usage":\{"prompt_tokens":3,"total_tokens":3,"completion_tokens":0,` +
          String.raw`"prompt_tokens_details":null\}\}$`,
      ),
    );
  });

  it.each([
    ['one side only', { queries: 'a' }, 'queries'],
    ['sides of other lengths', { text_1: ['a', 'b'], text_2: ['a', 'b', 'c'] }, 'text_1'],
    ['an empty side', { text_1: 'a', text_2: [] }, 'text_2'],
    ['a number', { text_1: 'a', text_2: 5 }, 'text_2'],
    ['a pair beyond the context', { text_1: 'a '.repeat(40), text_2: 'b '.repeat(40) }, 'text_2'],
  ])('refuses %s', (_, body, param) => {
    const openai = { ...CONTEXT, limits: { ...CONTEXT.limits, dialect: 'openai' as const } };
    expect(() => parseScore(body, openai)).toThrow(expect.objectContaining({ param }));
  });
});

describe('POST /rerank', () => {
  it('orders the documents by score', () => {
    const { results } = rerank({ documents: DOCUMENTS });
    expect(results.map(({ index }) => index)).toEqual([2, 1, 0]);
    expect(results[0]?.document).toEqual({ text: QUERY, multi_modal: null });
  });

  it.each([
    [0, 3],
    [1, 1],
    [3, 3],
    [9, 3],
  ])('with top_n %i keeps %i', (top_n, kept) => {
    expect(rerank({ documents: DOCUMENTS, top_n }).results).toHaveLength(kept);
  });

  it('accepts documents as objects', () => {
    const { results } = rerank({ documents: DOCUMENTS.map((text) => ({ text })) });
    expect(results.map(({ index }) => index)).toEqual([2, 1, 0]);
  });

  it.each([
    ['no documents', { documents: [] }, 'documents'],
    ['too many documents', { documents: Array.from({ length: 2049 }, () => 'a') }, 'documents'],
    ['a negative top_n', { documents: ['a'], top_n: -1 }, 'top_n'],
    ['a document without text', { documents: ['a', {}] }, 'documents[1]'],
  ])('refuses %s', (_, body, param) => {
    expect(() => rerank(body)).toThrow(expect.objectContaining({ param }));
  });
});
