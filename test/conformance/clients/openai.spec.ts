import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveCluster } from '../answers/live-cluster';
import { expectFreed, type Trouble, troubleWith } from './server';

const messages = [{ role: 'user' as const, content: 'What will the weather be in Oslo?' }];
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters, strict: true },
};
const response_format = {
  type: 'json_schema' as const,
  json_schema: { name: 'forecast', schema: parameters, strict: true },
};

const clientOf = (url: string): OpenAI =>
  new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });

describe.each(['openai', 'vllm'] as const)('the official client and the %s dialect', (dialect) => {
  let cluster: LiveCluster;
  let client: OpenAI;

  beforeAll(async () => {
    cluster = await LiveCluster.open(dialect, 'disaggregated', {
      toolCallProbability: 1,
      toolCallExtraCallProbability: 0,
    });
    client = clientOf(cluster.url);
  });

  afterAll(() => cluster.close());

  const model = 'llama-3.1-8b';

  it('.create() answers in one piece', async () => {
    const answer = await client.chat.completions.create({ model, messages, max_tokens: 20 });
    expect(answer.choices[0]?.message.content).toMatch(/^[A-Z]/);
    expect(answer.usage?.completion_tokens).toBeGreaterThan(0);
    const completion = await client.completions.create({ model, prompt: 'Once', max_tokens: 5 });
    expect(completion.choices[0]?.text).toMatch(/^ /);
  });

  it('.stream() gathers content, and ends with what .create() answers', async () => {
    const stream = client.chat.completions.stream({ model, messages, max_tokens: 30 });
    let received = '';
    stream.on('content', (delta) => (received += delta));
    const whole = await client.chat.completions.create({ model, messages, max_tokens: 30 });
    expect(await stream.finalContent()).toBe(whole.choices[0]?.message.content);
    expect(received).toBe(whole.choices[0]?.message.content);
  });

  it('.stream() gathers the calls of tools', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages,
      tools: [weather],
      tool_choice: 'required',
    });
    const done: string[] = [];
    stream.on('tool_calls.function.arguments.done', ({ name, arguments: args }) => {
      done.push(name);
      expect(JSON.parse(args)).toHaveProperty('days');
    });
    const message = await stream.finalMessage();
    expect(done).toEqual(['weather']);
    expect(message.tool_calls?.[0]).toMatchObject({
      type: 'function',
      function: { name: 'weather' },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('.stream() and .parse() read JSON of a schema', async () => {
    const parsed = await client.chat.completions.parse({ model, messages, response_format });
    const value = parsed.choices[0]?.message.parsed as { city: string; days: number } | null;
    expect(value?.days).toBeGreaterThanOrEqual(1);
    const streamed = client.chat.completions.stream({ model, messages, response_format });
    const final = await streamed.finalChatCompletion();
    expect(JSON.parse(final.choices[0]?.message.content ?? '')).toEqual(value);
  });

  it('.parse() throws when the limit cuts the JSON', async () => {
    const body = { model, messages, response_format, max_tokens: 3 };
    await expect(client.chat.completions.parse(body)).rejects.toThrow(/length limit/);
  });

  it.each([true, false])(
    '.runTools() calls the function and comes to an answer (stream: %s)',
    async (stream) => {
      const asked: unknown[] = [];
      const tools = [
        {
          type: 'function' as const,
          function: {
            name: 'weather',
            description: 'Tells the weather',
            parameters,
            parse: JSON.parse as (text: string) => object,
            function: (args: object): string => {
              asked.push(args);
              return 'sunny';
            },
          },
        },
      ];
      const runner = stream
        ? client.chat.completions.runTools({ model, messages, tools, stream: true })
        : client.chat.completions.runTools({ model, messages, tools });
      const content = await runner.finalContent();
      expect(asked).toHaveLength(1);
      expect(asked[0]).toHaveProperty('city');
      expect(content).toMatch(/^[A-Z]/);
    },
  );

  it.each(['streamed', 'whole'] as const)('that leaves frees what it held: %s', async (mode) => {
    await expectFreed(dialect, mode, async (url, leave) => {
      const { completions } = clientOf(url).chat;
      const options = { signal: leave.signal };
      if (mode === 'whole') return completions.create({ model, messages }, options);
      const stream = await completions.create({ model, messages, stream: true });
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) break;
      }
      return undefined;
    });
  });

  it('embeds equal texts equally, as base64 and as numbers', async () => {
    const ask = { model, input: ['a baton', 'rain', 'a baton'], dimensions: 16 };
    const { data, usage } = await client.embeddings.create(ask);
    expect(data.map(({ embedding }) => embedding.length)).toEqual([16, 16, 16]);
    expect(data[2]?.embedding).toEqual(data[0]?.embedding);
    expect(data[1]?.embedding).not.toEqual(data[0]?.embedding);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    const plain = await client.embeddings.create({ ...ask, encoding_format: 'float' });
    const rounded = plain.data[0]?.embedding.map(Math.fround);
    expect(rounded).toEqual(data[0]?.embedding.map(Math.fround));
  });

  it('lists models, and finds each by its id', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain(model);
    expect((await client.models.retrieve(model)).id).toBe(model);
    await expect(client.models.retrieve('other')).rejects.toThrow(OpenAI.NotFoundError);
  });

  it('shows the id of a request', async () => {
    const headers = { 'X-Request-Id': 'mine-1' };
    const answer = await client.completions.create(
      { model, prompt: 'Once', max_tokens: 2 },
      { headers },
    );
    // vLLM names it in a header only with the option for it.
    expect(answer._request_id).toBe(dialect === 'openai' ? 'mine-1' : null);
    expect(answer.id).toBe('cmpl-mine-1');
  });

  it('distinguishes errors by class and field', async () => {
    const impossible = { ...weather, function: { name: 'f', parameters: { enum: [] } } };
    await expect(
      client.chat.completions.create({ model, messages, tools: [impossible] }),
    ).rejects.toThrow(OpenAI.BadRequestError);
    await expect(client.chat.completions.create({ model: 'other', messages })).rejects.toThrow(
      OpenAI.NotFoundError,
    );
    const refused = client.chat.completions.create({
      model,
      messages,
      modalities: ['text', 'audio'],
    });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'modalities' });
  });

  it.each([
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ] as const)('tells trouble apart by class: %i', async (status, expected) => {
    const error = await troubleWith(dialect, status satisfies Trouble, (url) =>
      clientOf(url).chat.completions.create({ model, messages }),
    );
    expect(error).toBeInstanceOf(expected);
    expect(error).toMatchObject({ status });
  });

  it('throws what fails in mid-stream', async () => {
    const error = await troubleWith(dialect, 500, async (url) => {
      const stream = await clientOf(url).completions.create({
        model,
        prompt: 'Once',
        stream: true,
      });
      for await (const chunk of stream) expect(chunk.choices).toEqual([]);
    });
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect((error as Error).message).toContain('Internal server error');
  });
});
