import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';

const PATH = '/v1/chat/completions';
const messages = [
  { role: 'system' as const, content: 'Be brief.' },
  { role: 'user' as const, content: [{ type: 'text' as const, text: 'Why a baton?' }] },
];

describe('a chat completion with store', () => {
  let fixture: ApiFixture;
  let client: OpenAI;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
    client = new OpenAI({ apiKey: 'k', baseURL: `${fixture.api.url}/v1`, maxRetries: 0 });
  });
  afterAll(() => fixture.stop());

  const create = (more: object = {}) =>
    client.chat.completions.create({
      model: 'llama-3.1-8b',
      messages,
      max_tokens: 8,
      store: true,
      ...more,
    });

  it('is read back as it was answered, with its request', async () => {
    const made = await create({ metadata: { run: '7' }, temperature: 0.5, n: 2 });
    const found = await client.chat.completions.retrieve(made.id);
    expect(found).toMatchObject({
      id: made.id,
      object: 'chat.completion',
      created: made.created,
      model: made.model,
      usage: made.usage,
      metadata: { run: '7' },
      temperature: 0.5,
      seed: null,
    });
    expect(found.choices).toEqual(made.choices);
  });

  it('is kept when it was streamed', async () => {
    const body = { messages, max_tokens: 8, store: true, stream: true };
    const { chunks, text, finishReason } = await readStream(await fixture.post(PATH, body));
    const found = await client.chat.completions.retrieve(chunks[0]!.id);
    expect(found.choices[0]).toMatchObject({
      message: { role: 'assistant', content: text },
      finish_reason: finishReason,
    });
  });

  it('has the messages of its request', async () => {
    const { id } = await create();
    const { data } = await client.chat.completions.messages.list(id);
    expect(data).toEqual([
      { id: `${id}-0`, name: null, role: 'system', content: 'Be brief.', content_parts: null },
      {
        id: `${id}-1`,
        name: null,
        role: 'user',
        content: null,
        content_parts: [{ type: 'text', text: 'Why a baton?' }],
      },
    ]);
  });

  it('is listed, the oldest first, by model and metadata, page by page', async () => {
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) ids.push((await create({ metadata: { set: 'listed' } })).id);
    await create({ metadata: { set: 'other' } });
    const listed: string[] = [];
    const query = { metadata: { set: 'listed' }, limit: 2 };
    for await (const { id } of client.chat.completions.list(query)) listed.push(id);
    expect(listed).toEqual(ids);
    const newest = await client.chat.completions.list({ ...query, order: 'desc' });
    expect(newest.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect((await client.chat.completions.list({ model: 'other' })).data).toEqual([]);
  });

  it('takes new metadata, and nothing else', async () => {
    const { id } = await create({ metadata: { a: '1' } });
    const changed = await client.chat.completions.update(id, { metadata: { b: '2' } });
    expect(changed).toMatchObject({ id, metadata: { b: '2' } });
    const found = await client.chat.completions.retrieve(id);
    expect(found).toEqual(changed);
    expect((await fixture.post(`${PATH}/${id}`, {})).status).toBe(400);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
    const refused = await fixture.post(`${PATH}/${id}`, { metadata: many });
    const { error } = (await refused.json()) as { error: { code: string } };
    expect([refused.status, error.code]).toEqual([400, 'object_above_max_properties']);
  });

  it('is gone once it is deleted', async () => {
    const { id } = await create();
    expect(await client.chat.completions.delete(id)).toEqual({
      id,
      object: 'chat.completion.deleted',
      deleted: true,
    });
    for (const gone of [
      client.chat.completions.retrieve(id),
      client.chat.completions.delete(id),
      client.chat.completions.update(id, { metadata: {} }),
    ]) {
      await expect(gone).rejects.toMatchObject({ status: 404 });
    }
  });

  it.each([false, true])('may have a long body, with stream %s', async (stream) => {
    const content = 'The baton goes on. 🏃 '.repeat(3_000);
    const body = { messages: [{ role: 'user', content }], max_tokens: 8, metadata: { a: 'long' } };
    const answer = await fixture.post(PATH, { ...body, store: true, stream });
    const [, id = ''] = /"id":"([^"]+)"/.exec(await answer.text()) ?? [];
    const found = await client.chat.completions.retrieve(id);
    expect(found).toMatchObject({ id, metadata: { a: 'long' }, usage: { completion_tokens: 8 } });
    const { data } = await client.chat.completions.messages.list(id);
    expect(data).toMatchObject([{ id: `${id}-0`, role: 'user', content }]);
    const other = await fixture.post(PATH, { ...body, store: false });
    const { id: otherId } = (await other.json()) as { id: string };
    await expect(client.chat.completions.retrieve(otherId)).rejects.toMatchObject({ status: 404 });
  });

  it('ends a page of a list early when its chats are long', async () => {
    const metadata = { set: 'long' };
    const made = { metadata, user: 'x'.repeat(3 << 19) };
    const ids = [];
    for (const _ of [1, 2, 3]) ids.push((await create(made)).id);
    const page = await client.chat.completions.list({ metadata });
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const listed = [];
    for await (const { id } of client.chat.completions.list({ metadata })) listed.push(id);
    expect(listed).toEqual(ids);
  });

  it('is stored only on request, with valid metadata', async () => {
    const { id } = await create({ store: false, metadata: { a: 'b' } });
    await expect(client.chat.completions.retrieve(id)).rejects.toMatchObject({ status: 404 });
    const refused = create({ metadata: { a: 'x'.repeat(513) } });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'string_above_max_length' });
  });
});
