import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiFixture } from '../../../apps/api/test/api-fixture';
import {
  expectForecast,
  expectFreed,
  FORECAST,
  MODEL,
  openServer,
  QUESTION,
  type Trouble,
  troubleWith,
} from './server';

const clientOf = (baseURL: string): Anthropic =>
  new Anthropic({ apiKey: 'none', baseURL, maxRetries: 0 });

const BODY = {
  model: MODEL,
  max_tokens: 60,
  messages: [{ role: 'user' as const, content: QUESTION }],
};
const TOOLS = [
  { name: 'weather', description: 'Tells the weather', input_schema: { ...FORECAST } },
] as unknown as Anthropic.Tool[];
const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

describe.each(['openai', 'vllm'] as const)('Anthropic’s client and the %s dialect', (dialect) => {
  let fixture: ApiFixture;
  let client: Anthropic;

  beforeAll(async () => {
    fixture = await openServer(dialect);
    client = clientOf(fixture.api.url);
  });

  afterAll(() => fixture.stop());

  it('messages.create() answers with text, a reason and usage', async () => {
    const message = await client.messages.create(BODY);
    expect(textOf(message)).toMatch(/^[A-Z]/);
    expect(message.role).toBe('assistant');
    expect(['end_turn', 'max_tokens']).toContain(message.stop_reason);
    const counted = await client.messages.countTokens({ model: MODEL, messages: BODY.messages });
    expect(message.usage.input_tokens).toBe(counted.input_tokens);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  it('messages.stream() gathers the text that create() answers', async () => {
    const stream = client.messages.stream(BODY);
    let received = '';
    stream.on('text', (delta) => (received += delta));
    const whole = await client.messages.create(BODY);
    const final = await stream.finalMessage();
    expect(received).toBe(textOf(whole));
    expect(textOf(final)).toBe(textOf(whole));
    expect(final.stop_reason).toBe(whole.stop_reason);
    expect(final.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  it('create({ stream: true }) yields events in their order', async () => {
    const types: string[] = [];
    const stream = await client.messages.create({ ...BODY, max_tokens: 2, stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types[0]).toBe('message_start');
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
    expect(types).toContain('content_block_delta');
  });

  it.each(['whole', 'streamed'])('a tool is called, and its result answered: %s', async (mode) => {
    const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
      const body = { ...BODY, max_tokens: 400, tools: TOOLS, messages };
      const isStreamed = mode === 'streamed';
      return isStreamed
        ? client.messages.stream(body).finalMessage()
        : client.messages.create(body);
    };
    const asked = await ask([...BODY.messages]);
    expect(asked.stop_reason).toBe('tool_use');
    const use = asked.content.find((block) => block.type === 'tool_use');
    expect(use?.name).toBe('weather');
    expectForecast(use?.input);
    const answered = await ask([
      ...BODY.messages,
      { role: 'assistant', content: asked.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: 'sunny' }],
      },
    ]);
    expect(textOf(answered)).toMatch(/^[A-Z]/);
  });

  it('tool_choice by name calls that tool', async () => {
    const other = { ...TOOLS[0]!, name: 'other' };
    const tools = [...TOOLS, other];
    const tool_choice = { type: 'tool' as const, name: 'other' };
    const message = await client.messages.create({ ...BODY, max_tokens: 400, tools, tool_choice });
    expect(message.content.flatMap((b) => (b.type === 'tool_use' ? [b.name] : []))).toEqual([
      'other',
    ]);
  });

  it('messages.parse() reads the JSON of a schema', async () => {
    const format = { type: 'json_schema' as const, schema: { ...FORECAST } };
    const body = { ...BODY, max_tokens: 400, output_config: { format } };
    expectForecast(JSON.parse(textOf(await client.messages.create(body))));
    const parsed = await client.messages.parse(body);
    expectForecast(JSON.parse(textOf(parsed)));
    const streamed = await client.messages.stream(body).finalMessage();
    expect(textOf(streamed)).toBe(textOf(parsed));
  });

  it('beta.messages.toolRunner() comes to an answer', async () => {
    const asked: unknown[] = [];
    const runner = client.beta.messages.toolRunner({
      ...BODY,
      max_tokens: 400,
      max_iterations: 4,
      tools: [
        {
          name: 'weather',
          input_schema: { ...FORECAST, required: [...FORECAST.required] },
          run: (input: unknown) => {
            asked.push(input);
            return 'sunny';
          },
          parse: (input: unknown) => input,
        },
      ],
    });
    const final = await runner;
    expect(asked).toHaveLength(1);
    expectForecast(asked[0]);
    expect(final.content.at(-1)).toMatchObject({ type: 'text' });
  });

  it('shows thoughts with signatures that come back', async () => {
    const thinker = await openServer(dialect, { reasoning: true });
    const client = clientOf(thinker.api.url);
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
    const body = { ...BODY, max_tokens: 3000, thinking };
    const message = await client.messages.create(body);
    const [thought] = message.content;
    expect(thought).toMatchObject({ type: 'thinking' });
    expect(thought?.type === 'thinking' && thought.signature).toMatch(/^[\w+/=]+$/);
    const streamed = await client.messages.stream(body).finalMessage();
    expect(streamed.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const more = [
      ...BODY.messages,
      { role: 'assistant' as const, content: message.content },
      { role: 'user' as const, content: 'And tomorrow?' },
    ];
    const again = await client.messages.create({ ...body, messages: more });
    expect(textOf(again)).toMatch(/^[A-Z]/);
    await thinker.stop();
  });

  it('stops at a stop sequence and names it', async () => {
    const message = await client.messages.create({ ...BODY, stop_sequences: ['e'] });
    expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'e' });
  });

  it.each(['streamed', 'whole'] as const)('that leaves frees what it held: %s', async (mode) => {
    await expectFreed(dialect, mode, async (url, leave) => {
      const options = { signal: leave.signal };
      const own = clientOf(url);
      if (mode === 'whole') return own.messages.create({ ...BODY, max_tokens: 5000 }, options);
      const stream = own.messages.stream({ ...BODY, max_tokens: 5000 });
      stream.on('text', () => stream.abort());
      await expect(stream.finalMessage()).rejects.toThrow(Anthropic.APIUserAbortError);
      return undefined;
    });
  });

  it.each([
    [{ max_tokens: 0 }, Anthropic.BadRequestError],
    [{ model: 'other' }, Anthropic.NotFoundError],
    [{ messages: [{ role: 'user', content: 5 }] }, Anthropic.BadRequestError],
  ] as const)('tells errors apart by class: %j', async (fields, expected) => {
    const body = { ...BODY, ...fields } as unknown as Anthropic.MessageCreateParamsNonStreaming;
    await expect(client.messages.create(body)).rejects.toThrow(expected);
    const stream = client.messages.stream(body);
    await expect(stream.finalMessage()).rejects.toThrow(expected);
  });

  it.each([
    [429, Anthropic.RateLimitError],
    [500, Anthropic.InternalServerError],
    [503, Anthropic.InternalServerError],
  ] as const)('tells trouble apart by class: %i', async (status, expected) => {
    const error = await troubleWith(dialect, status satisfies Trouble, (url) =>
      clientOf(url).messages.create(BODY),
    );
    expect(error).toBeInstanceOf(expected);
    expect(error).toMatchObject({ status });
  });
});
