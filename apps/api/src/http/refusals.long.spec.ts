import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';

const MODEL = 'm';
const user = (content: unknown) => [{ role: 'user', content }];
const TOOL = (parameters: object) => [{ type: 'function', function: { name: 'f', parameters } }];
const NEVER = { type: 'object', properties: { a: { enum: [] } }, required: ['a'] };
const KEY = { authorization: 'Bearer sk-one' };

interface Refusal {
  readonly why: string;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const LONG = 'word '.repeat(5_000);

/** One row per kind of refusal, at every endpoint that makes jobs for engines. */
const WORK: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/v1/chat/completions': { messages: user('x'), max_tokens: 1 },
  '/v1/completions': { prompt: 'x', max_tokens: 1 },
  '/v1/responses': { input: 'x', model: MODEL, max_output_tokens: 16 },
  '/v1/messages': { messages: user('x'), model: MODEL, max_tokens: 1 },
  '/v1/embeddings': { input: 'x' },
  '/pooling': { input: 'x' },
  '/classify': { input: 'x' },
  '/v1/score': { text_1: 'x', text_2: 'y' },
  '/v1/rerank': { query: 'x', documents: ['y'] },
  '/inference/v1/generate': { token_ids: [1, 2], sampling_params: { max_tokens: 1 } },
};

/** Paths below these need a key. */
const GUARDED = /^\/(v1|inference)/;

const EVERYWHERE: readonly Refusal[] = Object.entries(WORK).flatMap(([path, body]) => {
  const at = (why: string, rest: Partial<Refusal>): Refusal => ({
    why,
    path,
    body,
    status: 400,
    ...rest,
  });
  return [
    at('a body that is not JSON', { body: '{"x":' }),
    at('a body that is a list', { body: [] }),
    at('a main field of the wrong type', { body: { ...body, [Object.keys(body)[0] ?? '']: 5 } }),
    at('an unknown model', { body: { ...body, model: 'nope' }, status: 404 }),
    at('another content type', { headers: { 'content-type': 'text/plain' } }),
    at('a body that is too large', { body: ' '.repeat(1 << 20), status: 413 }),
    at('a rank that is not there', { headers: { 'x-data-parallel-rank': '7' } }),
    ...(GUARDED.test(path)
      ? [at('a wrong key', { headers: { authorization: 'Bearer no' }, status: 401 })]
      : []),
    at('a method that is not served', { path: `${path}/no/such`, status: 404 }),
  ];
});

const chat = (more: object): unknown => ({ ...WORK['/v1/chat/completions'], ...more });

const OF_CHAT: readonly Refusal[] = (
  [
    ['a wrong type', { max_tokens: 'x' }],
    ['a value out of range', { temperature: 3 }],
    ['a prompt beyond the context', { messages: user(LONG) }],
    ['more output than the context', { max_tokens: 100_000 }],
    ['more than an engine can hold', { messages: user('word '.repeat(700)), max_tokens: 400 }],
    ['a schema that nothing fulfils', schema(NEVER)],
    ['tools that nothing can be given to', { tools: TOOL(NEVER) }],
    ['a tool that is not there', { tools: TOOL({}), tool_choice: named('g') }],
    ['a regular expression that is none', { structured_outputs: { regex: '(' } }],
    ['a field that is not supported', { audio: {} }],
    ['an image for a model of text', { messages: user([{ type: 'image_url', image_url: 'x' }]) }],
    ['a part that is no text', { messages: user([{ type: 'text', text: 5 }]) }],
    ['deep nesting', { metadata: nested(300) }],
    ['stream options without a stream', { stream_options: {} }],
  ] as const
).map(([why, more]) => ({ why, path: '/v1/chat/completions', body: chat(more), status: 400 }));

function schema(of: object): object {
  return { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: of } } };
}

function named(name: string): object {
  return { type: 'function', function: { name } };
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
}

describe.each(['openai', 'vllm'] as const)('a refused request in the %s dialect', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({
      config: {
        dialect,
        apiKey: ['sk-one'],
        servedModelName: [MODEL],
        maxModelLen: 2_000,
        imageTokens: 0,
        maxRequestBodyMb: 0.5,
      },
      // 64 blocks of 16 tokens.
      engines: [{ isEager: true, numBlocks: 64 }],
    });
  });
  afterAll(() => fixture.stop());

  /** All that a request leaves behind in the broker. */
  const traces = (): object => {
    const { queues, records, prompts, shares, documents } = fixture.hub;
    return {
      jobs: [...queues.values()].map(({ waiting }) => waiting).filter((count) => count > 0),
      records: records.values(),
      prompts: prompts.values(),
      shares: Object.values(shares).map(({ size }) => size),
      documents: [...documents.values()].flatMap((collection) => collection.values()),
      runs: fixture.engine.runs.length,
    };
  };

  it.each([...EVERYWHERE, ...OF_CHAT])('leaves no trace: $why at $path', async (refusal) => {
    const { path, body, status, headers } = refusal;
    const before = traces();
    const answer = await fixture.post(path, body, { headers: { ...KEY, ...headers } });
    const text = await answer.text();
    expect(answer.status, text).toBe(status);
    expect(traces()).toEqual(before);
  });

  it('leaves a trace that this test sees when it is not refused', async () => {
    const before = traces();
    const body = WORK['/v1/completions'];
    const answer = await fixture.post('/v1/completions', body, { headers: KEY });
    expect(answer.status).toBe(200);
    expect(traces()).not.toEqual(before);
  });
});

describe('strict', () => {
  it.each([
    [false, 200],
    [true, 400],
  ])('%s answers what only vLLM refuses with %i', async (strict, status) => {
    const fixture = await ApiFixture.start({
      config: { dialect: 'vllm', strict },
      engines: [{ isEager: true }],
    });
    const body = { prompt: 'x', max_tokens: 1, stream_interval: 0 };
    const answer = await fixture.post('/v1/completions', body);
    await fixture.stop();
    expect(answer.status).toBe(status);
    expect(fixture.engine.runs).toHaveLength(strict ? 0 : 1);
  });
});
