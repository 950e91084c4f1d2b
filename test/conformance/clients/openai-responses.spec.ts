import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveCluster } from '../answers/live-cluster';
import { expectFreed, expectForecast, FORECAST, MODEL as model, QUESTION as input } from './server';

const weather = { type: 'function' as const, name: 'weather', parameters: FORECAST, strict: true };
const format = {
  type: 'json_schema' as const,
  name: 'forecast',
  schema: FORECAST,
  strict: true,
};

const clientOf = (url: string): OpenAI =>
  new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });

describe.each(['openai', 'vllm'] as const)('responses of the official client, %s', (dialect) => {
  let cluster: LiveCluster;
  let client: OpenAI;

  beforeAll(async () => {
    const config = { toolCallProbability: 1, toolCallExtraCallProbability: 0, reasoning: true };
    cluster = await LiveCluster.open(dialect, 'disaggregated', config);
    client = clientOf(cluster.url);
  });

  afterAll(() => cluster.close());

  it('.create() answers in one piece, and .retrieve() again', async () => {
    const response = await client.responses.create({ model, input, max_output_tokens: 20 });
    expect(response.output_text).toMatch(/^[A-Z]/);
    const again = await client.responses.retrieve(response.id);
    expect(again.output).toEqual(response.output);
    const items = await client.responses.inputItems.list(response.id);
    expect(items.data[0]).toMatchObject({ type: 'message', role: 'user' });
    await client.responses.delete(response.id);
    await expect(client.responses.retrieve(response.id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  it('.stream() gathers text and thoughts, and comes to what .create() answers', async () => {
    const body = { model, input, max_output_tokens: 2000, reasoning: { effort: 'low' as const } };
    let received = '';
    const stream = client.responses.stream(body);
    stream.on('response.output_text.delta', ({ delta }) => (received += delta));
    const streamed = await stream.finalResponse();
    const whole = await client.responses.create(body);
    expect(streamed.output_text).toBe(whole.output_text);
    expect(received).toBe(whole.output_text);
    expect(streamed.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
  });

  it('.stream() of an id continues after the seen events', async () => {
    const body = { model, input, max_output_tokens: 30, background: true };
    const { id } = await client.responses.create(body);
    const seen: number[] = [];
    const whole = await client.responses.retrieve(id, { stream: true });
    for await (const event of whole) seen.push(event.sequence_number);
    expect(seen).toEqual([...seen.keys()]);
    const late: number[] = [];
    const rest = client.responses.stream({ response_id: id, starting_after: 5 });
    for await (const event of rest) late.push(event.sequence_number);
    expect(late).toEqual(seen.slice(6));
    const final = await client.responses.retrieve(id);
    expect((await rest.finalResponse()).output_text).toBe(final.output_text);
  });

  it('.parse() and .stream() read JSON of a schema', async () => {
    const body = { model, input, text: { format } };
    const parsed = await client.responses.parse(body);
    expectForecast(parsed.output_parsed);
    const streamed = await client.responses.stream(body).finalResponse();
    expect(JSON.parse(streamed.output_text)).toEqual(parsed.output_parsed);
  });

  it.each([true, false])(
    'calls a tool and continues with its result (stream: %s)',
    async (stream) => {
      const body = { model, input, tools: [weather], tool_choice: 'required' as const };
      const asked = stream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      const [call] = asked.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      expect(call?.name).toBe('weather');
      expectForecast(JSON.parse(call!.arguments));
      const { call_id } = call!;
      const answered = await client.responses.create({
        model,
        previous_response_id: asked.id,
        input: [{ type: 'function_call_output', call_id, output: 'sunny' }],
        tools: [weather],
        max_output_tokens: 30,
      });
      expect(answered.output_text).toMatch(/^[A-Z]/);
    },
  );

  it('keeps a conversation', async () => {
    const conversation = await client.conversations.create({ metadata: { topic: 'x' } });
    const body = { model, conversation: conversation.id, max_output_tokens: 20 };
    await client.responses.create({ ...body, input: 'One?' });
    await client.responses.create({ ...body, input: 'Two?' });
    const roles: string[] = [];
    const list = client.conversations.items.list(conversation.id, { order: 'asc', limit: 2 });
    for await (const item of list) if (item.type === 'message') roles.push(item.role);
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect((await client.conversations.delete(conversation.id)).deleted).toBe(true);
  });

  it('runs in the background, counts, compacts and cancels', async () => {
    const counted = await client.responses.inputTokens.count({ model, input });
    const compact = await client.responses.compact({ model, input });
    expect(compact.output.at(-1)?.type).toBe('compaction');
    expect(compact.usage.input_tokens).toBe(counted.input_tokens);
    const queued = await client.responses.create({ model, input, background: true });
    expect(queued.status).toBe('queued');
    const cancelled = await client.responses.cancel(queued.id);
    expect(['cancelled', 'completed']).toContain(cancelled.status);
  });

  it('stops what runs when the client leaves', async () => {
    await expectFreed(dialect, 'streamed', async (url) => {
      const body = { model, input, stream: true as const };
      const stream = await clientOf(url).responses.create(body);
      for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    });
  });

  it('distinguishes errors by class and field', async () => {
    const impossible = { ...weather, parameters: { enum: [] } };
    const create = (body: object): Promise<unknown> =>
      client.responses.create({ model, input, ...body } as never);
    await expect(create({ tools: [impossible] })).rejects.toThrow(OpenAI.BadRequestError);
    await expect(create({ model: 'other' })).rejects.toThrow(OpenAI.NotFoundError);
    await expect(create({ previous_response_id: 'resp_none' })).rejects.toMatchObject({
      status: 404,
      code: 'previous_response_not_found',
    });
    const tooFew = dialect === 'openai' ? 15 : 0;
    await expect(create({ max_output_tokens: tooFew })).rejects.toMatchObject({
      status: 400,
      param: 'max_output_tokens',
    });
  });
});
