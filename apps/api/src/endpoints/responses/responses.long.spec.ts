import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import {
  eventsIn,
  isIdle,
  type ResponseBody,
  type ResponseItem,
  ResponsesClient,
  outputText,
} from '../../../test/responses-client';
import { until } from '../../../test/until';

const WEATHER = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each(['openai', 'vllm'] as const)('/v1/responses in the %s dialect', (dialect) => {
  let fixture: ApiFixture;
  let client: ResponsesClient;
  beforeAll(async () => {
    const config = { dialect, toolCallProbability: 1 };
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    client = new ResponsesClient(fixture.api.url);
  });
  afterAll(() => fixture.stop());

  it('streams what it answers in one piece', async () => {
    const body = { input: 'Why a baton?', max_output_tokens: 40 };
    const whole = await client.create(body);
    const events = eventsIn(await client.stream(body));
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const text = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(text.map(({ delta }) => delta).join('')).toBe(outputText(whole));
    const last = events.at(-1)?.response;
    expect(outputText(last!)).toBe(outputText(whole));
    expect(last?.status).toBe(whole.status);
    expect(last?.usage).toEqual(whole.usage);
  });

  it('calls a function, and goes on with its result', async () => {
    const body = { input: 'Rain in Oslo?', tools: [WEATHER], tool_choice: 'required' };
    const asked = await client.create(body);
    const call = asked.output.at(-1)!;
    expect(call).toMatchObject({ type: 'function_call', name: 'weather', status: 'completed' });
    expect(JSON.parse(call.arguments!)).toHaveProperty('city');
    const results = asked.output
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'rain' }));
    const next = { input: results, tools: [WEATHER], max_output_tokens: 30 };
    const told = await client.create({ ...next, previous_response_id: asked.id });
    expect(outputText(told)).not.toBe('');
    const all = [{ role: 'user', content: body.input }, ...asked.output, ...results];
    const again = await client.create({ ...next, input: all });
    expect(again.usage?.input_tokens).toBe(told.usage?.input_tokens);
  });

  it('continues over several turns, also after a stream, and inherits no instructions', async () => {
    const turns = ['one', 'two', 'three'];
    const items: object[] = [];
    let previous: string | undefined;
    for (const input of turns) {
      const body = { input, max_output_tokens: 20, instructions: `Say ${input}.` };
      const stream = await client.stream({ ...body, previous_response_id: previous });
      const response = eventsIn(stream).at(-1)!.response!;
      items.push({ role: 'user', content: input });
      const explicit = await client.create({ ...body, input: items });
      expect(response.usage?.input_tokens).toBe(explicit.usage?.input_tokens);
      items.push(...response.output);
      previous = response.id;
    }
  });

  it('resolves items of stored responses by id', async () => {
    const asked = await client.create({ input: 'One?', max_output_tokens: 20 });
    const question = { role: 'user', content: 'One?' };
    const next = { role: 'user', content: 'Two?' };
    const named = { type: 'item_reference', id: asked.output[0]!.id };
    const body = { max_output_tokens: 20 };
    const told = await client.create({ ...body, input: [question, named, next] });
    const spelled = await client.create({ ...body, input: [question, ...asked.output, next] });
    expect(outputText(told)).toBe(outputText(spelled));
    expect(told.usage).toEqual(spelled.usage);
    const unknown = { type: 'item_reference', id: named.id.replace(/..$/, '77') };
    const answer = await client.post({ input: [question, unknown] });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: 'input[1].id' } });
  });

  it('shows a stored response as it was answered', async () => {
    const metadata = { topic: 'batons', __proto__: 'x' };
    const whole = await client.create({ input: 'x', max_output_tokens: 20, metadata });
    expect(whole.metadata).toEqual(metadata);
    expect(await client.get(whole.id)).toEqual(whole);
    const forgotten = await client.create({ input: 'x', max_output_tokens: 20, store: false });
    expect(forgotten.store).toBe(false);
    const answer = await client.send(`/${forgotten.id}`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({
      error: {
        message: `Response with id '${forgotten.id}' not found.`,
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    });
  });

  it('replays a stream from any event', async () => {
    const body = { input: 'x', max_output_tokens: 30, tools: [WEATHER], tool_choice: 'auto' };
    const stream = await client.stream(body);
    const frames = stream.split('\n\n');
    const { id } = eventsIn(stream)[0]!.response!;
    for (const after of [-1, 0, 4, frames.length - 4]) {
      const told = await client.send(`/${id}?stream=true&starting_after=${after}`);
      expect(told.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(await told.text()).toBe(frames.slice(after + 1).join('\n\n'));
    }
  });

  it('is read again as a stream or whole, and in no other form', async () => {
    const { id } = await client.create({ input: 'x', max_output_tokens: 16 });
    expect((await client.send(`/${id}?stream=false`)).status).toBe(200);
    for (const stream of ['-94', 'yes', '']) {
      const refused = await client.send(`/${id}?stream=${stream}`);
      expect(refused.status).toBe(400);
      const body = (await refused.json()) as { error: { param: string } };
      expect(body.error.param).toBe('stream');
    }
  });

  it('pages through the items of a request', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));
    const { id } = await client.create({ input, max_output_tokens: 16 });
    const page = async (query: string): Promise<{ data: ResponseItem[]; has_more: boolean }> =>
      (await (await client.send(`/${id}/input_items${query}`)).json()) as never;
    const newest = await page('?limit=2');
    expect(newest.data).toHaveLength(2);
    expect(newest.has_more).toBe(true);
    const rest = await page(`?limit=2&after=${newest.data[1]!.id}`);
    expect(rest.has_more).toBe(false);
    const all = await page('?order=asc');
    expect([...newest.data, ...rest.data].toReversed()).toEqual(all.data);
  });

  it('counts tokens without an engine', async () => {
    const before = fixture.engine.runs.length;
    const body = { input: 'How many?', instructions: 'Count.' };
    const answer = await client.post(body, '/input_tokens');
    const { input_tokens: counted } = (await answer.json()) as { input_tokens: number };
    expect(fixture.engine.runs).toHaveLength(before);
    const { usage } = await client.create({ ...body, max_output_tokens: 16 });
    expect(counted).toBe(usage?.input_tokens);
  });

  it('compacts a conversation into items that the next request continues', async () => {
    const input = [
      { role: 'user', content: 'My name is Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
    ];
    const answer = await client.post({ model: 'llama-3.1-8b', input }, '/compact');
    expect(answer.status).toBe(200);
    const compact = (await answer.json()) as ResponseBody & { object: string };
    expect(compact.object).toBe('response.compaction');
    expect(compact.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
    expect(compact.usage?.output_tokens).toBeGreaterThan(0);
    const next = [...compact.output, { role: 'user', content: 'Who am I?' }];
    const told = await client.create({ input: next, max_output_tokens: 16 });
    // A sealed item costs as many tokens as its text.
    const sealed = (compact.output[1] as { encrypted_content?: string }).encrypted_content!;
    const open = { role: 'assistant', content: Buffer.from(sealed, 'base64').toString() };
    const spelled = await client.create({
      input: [input[0], open, next[2]],
      max_output_tokens: 16,
    });
    expect(told.usage).toEqual(spelled.usage);
    const nameless = await client.post({ input }, '/compact');
    expect(nameless.status).toBe(400);
    expect(await nameless.json()).toMatchObject({ error: { param: 'model' } });
  });

  it('reports a deletion to one caller only', async () => {
    const { id } = await client.create({ input: 'x', max_output_tokens: 16 });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => client.send(`/${id}`, { method: 'DELETE' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
    const done = answers.find(({ status }) => status === 200)!;
    expect(await done.json()).toEqual({ id, object: 'response', deleted: true });
    const next = await client.post({ input: 'x', previous_response_id: id });
    expect(next.status).toBe(404);
    expect(await next.json()).toMatchObject({
      error: { param: 'previous_response_id', code: 'previous_response_not_found' },
    });
  });

  it('lists the tools that it leaves out', async () => {
    const tools = [{ type: 'web_search' }, { type: 'naïve\n' }, { type: 'web_search' }];
    const answer = await client.post({ input: 'x', tools, max_output_tokens: 16 });
    expect(answer.headers.get('x-baton-skipped-tools')).toBe('web_search, na?ve?');
    const streamed = await client.post({ input: 'x', tools, stream: true, max_output_tokens: 16 });
    expect(streamed.headers.get('x-baton-skipped-tools')).toBe('web_search, na?ve?');
    await streamed.text();
  });

  it('runs in the background, and is stored when it is over', async () => {
    const body = { input: 'x', max_output_tokens: 20, background: true };
    const queued = await client.create(body);
    expect(queued).toMatchObject({ status: 'queued', output: [], usage: null });
    const told = await client.send(`/${queued.id}?stream=true`);
    const events = eventsIn(await told.text());
    const ended = await client.get(queued.id);
    expect(['completed', 'incomplete']).toContain(ended.status);
    expect(events.at(-1)?.response).toEqual(ended);
    await until(() => isIdle(fixture));
  });

  it.each([
    ['', '{'],
    ['', 'null'],
    ['', '{"input":5}'],
    ['', '{"input":[{"type":"poem"}]}'],
    ['', '{"input":"x","metadata":{"a":5}}'],
    ['', '{"input":"x","max_output_tokens":0,"stream":true}'],
    ['/input_tokens', '{"input":5}'],
  ])('answers bad input of %s (%s) with 400 in its own shape', async (path, body) => {
    const before = fixture.engine.runs.length;
    const answer = await client.send(path, { method: 'POST', body });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: object };
    expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
    expect(error).toHaveProperty('type', 'invalid_request_error');
    expect(fixture.engine.runs).toHaveLength(before);
  });

  it.each([
    ['GET', ''],
    ['PUT', '/resp_1'],
    ['POST', '/resp_1/input_items'],
    ['GET', '/resp_1/cancel'],
  ])('knows no %s %s', async (method, path) => {
    expect((await client.send(path, { method })).status).toBe(405);
  });
});
