import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields, OpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApiFixture } from '../../../apps/api/test/api-fixture';
import { expectForecast, expectFreed, MODEL, openServer, QUESTION, troubleWith } from './server';

const forecast = z.object({ city: z.string(), days: z.number().int().min(1).max(7) });
const weather = tool(() => 'sunny', {
  name: 'weather',
  description: 'Tells the weather',
  schema: forecast,
});

const optionsOf = (url: string) => ({
  model: MODEL,
  apiKey: 'none',
  maxRetries: 0,
  configuration: { baseURL: `${url}/v1` },
});
const chatAt = (url: string, fields: ChatOpenAIFields = {}): ChatOpenAI =>
  new ChatOpenAI({ ...optionsOf(url), ...fields });

/** The client's types do not expose `usage_metadata`. */
const outputTokens = (message: object): number =>
  (message as { usage_metadata?: { output_tokens: number } }).usage_metadata?.output_tokens ?? 0;

const SETTINGS = (['openai', 'vllm'] as const).flatMap((dialect) => [
  { dialect, api: 'chat', useResponsesApi: false },
  { dialect, api: 'Responses', useResponsesApi: true },
]);

describe.each(SETTINGS)('LangChain and $api in the $dialect dialect', (setting) => {
  const { dialect, useResponsesApi } = setting;
  let fixture: ApiFixture;
  const chatOf = (url: string, fields?: ChatOpenAIFields): ChatOpenAI =>
    chatAt(url, { useResponsesApi, ...fields });
  const chat = (fields?: ChatOpenAIFields): ChatOpenAI => chatOf(fixture.api.url, fields);

  beforeAll(async () => {
    fixture = await openServer(dialect);
  });

  afterAll(() => fixture.stop());

  it('.invoke() and .stream() give one text and its usage', async () => {
    // The client reads no usage of a Responses stream that the limit cut.
    const room = { maxTokens: useResponsesApi ? 4_000 : 40 };
    const whole = await chat(room).invoke(QUESTION);
    expect(whole.text).toMatch(/^[A-Z]/);
    expect(outputTokens(whole)).toBeGreaterThan(0);
    let text = '';
    let tokens = 0;
    for await (const chunk of await chat(room).stream(QUESTION)) {
      text += chunk.text;
      tokens += outputTokens(chunk);
    }
    expect(text).toBe(whole.text);
    expect(tokens).toBe(outputTokens(whole));
  });

  it('.batch() keeps questions apart', async () => {
    const answers = await chat({ maxTokens: 20 }).batch(['One?', 'Two?']);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(2);
  });

  it('a completion model answers, whole and streamed', async () => {
    const llm = new OpenAI({ ...optionsOf(fixture.api.url), maxTokens: 12 });
    const whole = await llm.invoke('Once');
    let text = '';
    for await (const part of await llm.stream('Once')) text += part;
    expect(text).toBe(whole);
    expect(whole).not.toBe('');
  });

  it.each(['whole', 'streamed'])('.bindTools() calls, and answers the result: %s', async (mode) => {
    const model = chat().bindTools([weather]);
    const question = new HumanMessage(QUESTION);
    const ask = async (messages: Parameters<typeof model.invoke>[0]) => {
      if (mode === 'whole') return model.invoke(messages);
      const stream = await model.stream(messages);
      let sum;
      for await (const chunk of stream) sum = sum === undefined ? chunk : sum.concat(chunk);
      return sum!;
    };
    const called = await ask([question]);
    expect(called.tool_calls).toHaveLength(1);
    const [call] = called.tool_calls!;
    expect(call?.name).toBe('weather');
    expectForecast(call?.args);
    const result = new ToolMessage({ content: 'sunny', tool_call_id: call?.id ?? '' });
    const answer = await ask([question, called, result]);
    expect(answer.tool_calls).toHaveLength(0);
    expect(answer.text).toMatch(/^[A-Z]/);
  });

  it.each(['functionCalling', 'jsonSchema', 'jsonMode'] as const)(
    '.withStructuredOutput() by %s',
    async (method) => {
      const schema = method === 'jsonMode' ? z.record(z.string(), z.unknown()) : forecast;
      const value: unknown = await chat().withStructuredOutput(schema, { method }).invoke(QUESTION);
      if (method === 'jsonMode') expect(value).toBeTypeOf('object');
      else expectForecast(value);
    },
  );

  it('.embedQuery() and .embedDocuments() embed equal texts equally', async () => {
    const embeddings = new OpenAIEmbeddings({ ...optionsOf(fixture.api.url), dimensions: 64 });
    const one = await embeddings.embedQuery('a baton');
    const [same, other] = await embeddings.embedDocuments(['a baton', 'rain']);
    expect(one).toHaveLength(64);
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it.each(['streamed', 'whole'] as const)('that leaves frees what it held: %s', async (mode) => {
    await expectFreed(dialect, mode, async (url, leave) => {
      const options = { signal: leave.signal };
      if (mode === 'whole') return chatOf(url).invoke(QUESTION, options);
      for await (const _chunk of await chatOf(url).stream(QUESTION, options)) leave.abort();
      return undefined;
    });
  });

  it('distinguishes errors by status', async () => {
    await expect(chat({ topP: 5 }).invoke(QUESTION)).rejects.toMatchObject({ status: 400 });
    await expect(chat({ model: 'nobody' }).invoke(QUESTION)).rejects.toMatchObject({ status: 404 });
    await expect(chat({ model: 'nobody' }).stream(QUESTION)).rejects.toMatchObject({ status: 404 });
  });

  it.each([429, 500, 503] as const)('distinguishes failures by status: %i', async (status) => {
    const error = await troubleWith(dialect, status, (url) => chatOf(url).invoke(QUESTION));
    expect(error).toMatchObject({ status });
  });
});
