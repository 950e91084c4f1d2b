import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';

const messages = [{ role: 'user', content: 'Hi' }];

interface Named {
  readonly model: string;
}

interface Card {
  readonly id: string;
  readonly root: string;
  readonly parent: string | null;
}

describe('a model with several names', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({
      config: { servedModelName: ['first', 'org/second'], loraModules: ['sql=/adapters/sql'] },
      engines: [{ isEager: true }],
    });
  });
  afterAll(() => fixture.stop());

  it('is listed under each of them, and found by each', async () => {
    const list = await fetch(`${fixture.api.url}/v1/models`);
    const { data } = (await list.json()) as { data: Card[] };
    expect(data.map(({ id, root, parent }) => [id, root, parent])).toEqual([
      ['first', 'llama-3.1-8b', null],
      ['org/second', 'llama-3.1-8b', null],
      ['sql', '/adapters/sql', 'first'],
    ]);
    const found = await fetch(`${fixture.api.url}/v1/models/org/second`);
    expect(await found.json()).toMatchObject({ id: 'org/second' });
  });

  it.each([
    ['/v1/chat/completions', { messages, max_tokens: 1 }],
    ['/v1/completions', { prompt: 'Hi', max_tokens: 1 }],
    ['/v1/messages', { messages, max_tokens: 1 }],
    ['/v1/responses', { input: 'Hi', max_output_tokens: 16 }],
    ['/v1/embeddings', { input: 'Hi' }],
  ])('answers at %s under the first, whichever was asked for', async (path, body) => {
    for (const model of ['first', 'org/second']) {
      const answer = await fixture.post(path, { model, ...body });
      expect(((await answer.json()) as Named).model, model).toBe('first');
    }
    expect((await fixture.post(path, { model: 'third', ...body })).status).toBe(404);
  });

  it('streams under the first name', async () => {
    const body = { model: 'org/second', messages, max_tokens: 2, stream: true };
    const { chunks } = await readStream(await fixture.post('/v1/chat/completions', body));
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['first']));
  });

  it.each([
    ['org/second', 403, null],
    ['third', 404, 'model_not_found'],
  ])('is not deleted: %s is a %i', async (id, status, code) => {
    const answer = await fetch(`${fixture.api.url}/v1/models/${id}`, { method: 'DELETE' });
    expect(answer.status).toBe(status);
    const { error } = (await answer.json()) as { error: object };
    expect(error).toMatchObject({ type: 'invalid_request_error', code });
  });
});
