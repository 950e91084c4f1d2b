import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import {
  eventsIn,
  type ResponseBody,
  ResponsesClient,
  outputText,
} from '../../../test/responses-client';

interface Page {
  readonly object: string;
  readonly data: readonly { readonly id: string; readonly type: string; readonly role?: string }[];
  readonly first_id: string | null;
  readonly has_more: boolean;
}

interface Conversation {
  readonly id: string;
  readonly object: string;
  readonly created_at: number;
  readonly metadata: object;
}

const message = (content: string): object => ({ role: 'user', content });

describe.each(['openai', 'vllm'] as const)('/v1/conversations in the %s dialect', (dialect) => {
  let fixture: ApiFixture;
  let responses: ResponsesClient;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect }, engines: [{ isEager: true }] });
    responses = new ResponsesClient(fixture.api.url);
  });
  afterAll(() => fixture.stop());

  const send = (path: string, method = 'GET', body?: unknown): Promise<Response> =>
    fetch(`${fixture.api.url}/v1/conversations${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const create = async (body: object): Promise<Conversation> =>
    (await (await send('', 'POST', body)).json()) as Conversation;
  const itemsOf = async (id: string, query = '?order=asc&limit=100'): Promise<Page> =>
    (await (await send(`/${id}/items${query}`)).json()) as Page;

  it('are created, read, changed and deleted', async () => {
    const made = await create({ metadata: { a: 'b' }, items: [message('x')] });
    expect(made).toEqual({
      id: expect.stringMatching(/^conv_[0-9a-f]+$/) as string,
      object: 'conversation',
      created_at: expect.any(Number) as number,
      metadata: { a: 'b' },
    });
    expect(await (await send(`/${made.id}`)).json()).toEqual(made);
    const changed = await send(`/${made.id}`, 'POST', { metadata: { c: 'd' } });
    expect(await changed.json()).toEqual({ ...made, metadata: { c: 'd' } });
    const gone = await Promise.all([1, 2, 3].map(() => send(`/${made.id}`, 'DELETE')));
    expect(gone.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
    const done = gone.find(({ status }) => status === 200)!;
    expect(await done.json()).toEqual({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    expect(await (await send(`/${made.id}`)).json()).toEqual({
      error: {
        message: `Conversation with id '${made.id}' not found.`,
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    });
    expect((await send('', 'POST')).status).toBe(200);
  });

  it('keep items, list them by page and delete one', async () => {
    const { id } = await create({ items: [message('a')] });
    const added = await send(`/${id}/items`, 'POST', { items: [message('b'), message('c')] });
    const page = (await added.json()) as Page;
    expect(page).toMatchObject({ object: 'list', has_more: false });
    expect(page.data).toHaveLength(2);
    const all = await itemsOf(id);
    expect(all.data.slice(1)).toEqual(page.data);
    const newest = await itemsOf(id, '?limit=2');
    expect(newest.data).toEqual(page.data.toReversed());
    expect(newest.has_more).toBe(true);
    const item = page.data[0]!;
    expect(await (await send(`/${id}/items/${item.id}`)).json()).toEqual(item);
    const answer = await send(`/${id}/items/${item.id}`, 'DELETE');
    expect(await answer.json()).toMatchObject({ id, object: 'conversation' });
    expect((await send(`/${id}/items/${item.id}`)).status).toBe(404);
    expect((await send(`/${id}/items/${item.id}`, 'DELETE')).status).toBe(404);
    expect((await itemsOf(id)).data).toHaveLength(2);
  });

  it('continue with the output of responses, streamed or not, stored or not', async () => {
    const { id } = await create({ items: [message('My name is Ada.')] });
    const first = await responses.create({
      input: 'Hi',
      conversation: id,
      max_output_tokens: 20,
      store: false,
    });
    expect(first).toMatchObject({ conversation: { id } });
    const stream = await responses.stream({
      input: 'And?',
      conversation: { id },
      max_output_tokens: 20,
    });
    const second = eventsIn(stream).at(-1)!.response!;
    const { data } = await itemsOf(id);
    expect(data.map(({ role }) => role)).toEqual([
      ...['user', 'user', 'assistant', 'user', 'assistant'],
    ]);
    expect([data[2], data[4]]).toEqual([first.output[0], second.output[0]]);
    const whole = [message('My name is Ada.'), message('Hi'), ...first.output, message('And?')];
    const again = await responses.create({ input: whole, max_output_tokens: 20 });
    expect(outputText(again)).toBe(outputText(second));
    expect(again.usage?.input_tokens).toBe(second.usage?.input_tokens);
  });

  it('keep the items of many concurrent requests', async () => {
    const { id } = await create({});
    const asked = Array.from({ length: 12 }, (_, i) =>
      responses.create({ input: `${i}`, conversation: id, max_output_tokens: 16 }),
    );
    const answers: ResponseBody[] = await Promise.all(asked);
    const { data } = await itemsOf(id);
    const ids = new Set(data.map((item) => item.id));
    expect(ids.size).toBe(24);
    for (const { output } of answers) expect(ids).toContain(output[0]!.id);
  });

  it.each([
    ['', { items: [{ type: 'poem' }] }, 'items[0].type'],
    ['', { items: [{ type: 'item_reference', id: 'x' }] }, 'items[0].type'],
    ['', { items: Array.from({ length: 21 }, () => message('x')) }, 'items'],
    ['', { metadata: { a: 5 } }, 'metadata'],
    ['', [], null],
    ['/ID', {}, 'metadata'],
    ['/ID/items', {}, 'items'],
    ['/ID/items', { items: [] }, 'items'],
    [
      '/ID/items',
      { items: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      'items[0].content[0].text',
    ],
  ])('refuse POST %s of %j', async (path, body, param) => {
    const { id } = await create({});
    const answer = await send(path.replace('ID', id), 'POST', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', param },
    });
  });

  it('accept 20 items at once', async () => {
    const items = Array.from({ length: 20 }, () => message('x'));
    expect((await itemsOf((await create({ items })).id)).data).toHaveLength(20);
  });

  it('that do not exist give a response 404', async () => {
    const answer = await responses.post({ input: 'x', conversation: 'conv_none' });
    expect(answer.status).toBe(404);
    expect((await send('/conv_none', 'POST', { metadata: {} })).status).toBe(404);
    expect((await send('/conv_none/items', 'POST', { items: [message('x')] })).status).toBe(404);
  });
});
