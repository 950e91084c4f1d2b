import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const post = (url: string, path: string, body: object): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

describe.each([
  ['prefill and decode engines', { prefill: 2, decode: 1 }, '2P1D', {}],
  ['an aggregated engine', { aggregated: 1 }, '1A', {}],
  [
    'engines chosen by a policy',
    { prefill: 2, decode: 1 },
    '2P1D',
    { prefillPolicy: 'least-loaded' },
  ],
] as const)('pooling endpoints of %s', (_name, roles, topology, overrides) => {
  let cluster: ClusterFixture;
  beforeAll(async () => {
    cluster = await ClusterFixture.start(roles, { topology, ...overrides });
  });
  afterAll(() => cluster.stop());

  it('compute each prompt once, hold no KV and answer', async () => {
    const input = ['the baton is handed over', 'the baton', 'invoices'];
    const answer = await post(cluster.api.url, '/v1/embeddings', { input });
    expect(answer.status).toBe(200);
    const { data, usage } = (await answer.json()) as {
      data: { embedding: number[] }[];
      usage: { prompt_tokens: number };
    };
    expect(data.map(({ embedding }) => embedding.length)).toEqual([1024, 1024, 1024]);
    const computed = (): Promise<number> => cluster.metric('vllm:prompt_tokens_total');
    await until(async () => (await computed()) === usage.prompt_tokens);
    const engines = await cluster.engines();
    for (const { stage, gauges, counters } of engines) {
      expect(gauges.heldBlocks).toBe(0);
      if (stage === 'decode') expect(counters['steps']).toBe(0);
    }
  });

  it.each([
    ['/pooling', { input: 'a' }],
    ['/classify', { input: 'a' }],
    ['/score', { text_1: 'a', text_2: 'b' }],
    ['/v1/score', { queries: 'a', documents: ['b'] }],
    ['/rerank', { query: 'a', documents: ['b'] }],
    ['/v1/rerank', { query: 'a', documents: ['b'] }],
    ['/v2/rerank', { query: 'a', documents: ['b'] }],
  ])('serve %s', async (path, body) => {
    const answer = await post(cluster.api.url, path, body);
    expect(answer.status).toBe(200);
    expect(Object.keys((await answer.json()) as object)).toContain('usage');
  });
});

describe('the OpenAI client', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  it('reads the same vectors as base64, its default, and as floats', async () => {
    const client = new OpenAI({ baseURL: `${fixture.api.url}/v1`, apiKey: 'none' });
    const asked = { model: 'llama-3.1-8b', input: ['a', 'b'], dimensions: 16 };
    const base64 = await client.embeddings.create(asked);
    const floats = await client.embeddings.create({ ...asked, encoding_format: 'float' });
    expect(base64.data.map(({ embedding }) => embedding.length)).toEqual([16, 16]);
    expect(base64.data).toEqual(floats.data);
    await expect(client.embeddings.create({ ...asked, dimensions: 0 })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
  });
});

describe.each(['openai', 'vllm'] as const)('bad input of pooling endpoints, %s', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect }, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  it.each([
    ['/v1/embeddings', { input: '' }, 400],
    ['/v1/embeddings', { input: 'a', model: 'n' }, 404],
    ['/pooling', 'null', 400],
    ['/classify', '[', 400],
    ['/score', { text_1: 'a' }, 400],
    ['/rerank', { query: 'a' }, 400],
  ])('of %s (%j) is %i before anything is queued', async (path, body, status) => {
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(status);
    const { error } = (await answer.json()) as { error: { message: string; code: unknown } };
    expect(error.message.length).toBeGreaterThan(0);
    if (dialect === 'vllm') expect(error.code).toBe(status);
    expect(fixture.engine.runs).toHaveLength(0);
  });

  it('with a wrong method gives 405', async () => {
    const answer = await fetch(`${fixture.api.url}/v1/embeddings`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
