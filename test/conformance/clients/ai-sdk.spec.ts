import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  embed,
  embedMany,
  type EmbeddingModel,
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModel,
  Output,
  stepCountIs,
  streamObject,
  streamText,
  tool,
  type ToolSet,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApiFixture } from '../../../apps/api/test/api-fixture';
import {
  expectForecast,
  expectFreed,
  FORECAST,
  MODEL,
  openServer,
  QUESTION,
  troubleWith,
} from './server';

/** The models of a provider at a server. */
interface Models {
  readonly chat: (model?: string) => LanguageModel;
  readonly completion: () => LanguageModel;
  readonly embedding: () => EmbeddingModel;
}

function openaiAt(url: string): Models {
  const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
  return {
    chat: (model = MODEL) => provider.chat(model),
    completion: () => provider.completion(MODEL),
    embedding: () => provider.embedding(MODEL),
  };
}

/** The default models of this provider. */
function responsesAt(url: string): Models {
  const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
  return { ...openaiAt(url), chat: (model = MODEL) => provider(model) };
}

function compatibleAt(url: string): Models {
  const provider = createOpenAICompatible({
    name: 'baton',
    baseURL: `${url}/v1`,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  return {
    chat: (model = MODEL) => provider.chatModel(model),
    completion: () => provider.completionModel(MODEL),
    embedding: () => provider.embeddingModel(MODEL),
  };
}

const PROVIDERS = {
  '@ai-sdk/openai and Responses': responsesAt,
  '@ai-sdk/openai and chat': openaiAt,
  '@ai-sdk/openai-compatible': compatibleAt,
};
const forecast = z.object({ city: z.string(), days: z.number().int().min(1).max(7) });
const once = { prompt: QUESTION, maxRetries: 0 } as const;
const quiet = { onError: () => undefined } as const;

describe.each(['openai', 'vllm'] as const)('the AI SDK and the %s dialect', (dialect) => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await openServer(dialect);
  });

  afterAll(() => fixture.stop());

  describe.each(Object.entries(PROVIDERS))('through %s', (_name, modelsAt) => {
    const models = (): Models => modelsAt(fixture.api.url);

    it('generateText and streamText give one text', async () => {
      const ask = { ...once, maxOutputTokens: 40 };
      const whole = await generateText({ ...ask, model: models().chat() });
      expect(whole.text).toMatch(/^[A-Z]/);
      expect(whole.usage.outputTokens).toBeGreaterThan(0);
      const stream = streamText({ ...ask, model: models().chat() });
      let text = '';
      for await (const delta of stream.textStream) text += delta;
      expect(text).toBe(whole.text);
      expect(await stream.finishReason).toBe(whole.finishReason);
      expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens);
      expect((await stream.usage).inputTokens).toBe(whole.usage.inputTokens);
    });

    it('a completion model answers, whole and streamed', async () => {
      const ask = { ...once, maxOutputTokens: 12 };
      const whole = await generateText({ ...ask, model: models().completion() });
      expect(whole.text).not.toBe('');
      const stream = streamText({ ...ask, model: models().completion() });
      expect(await stream.text).toBe(whole.text);
    });

    it.each(['whole', 'streamed'])('calls a tool and comes to an answer: %s', async (mode) => {
      const asked: unknown[] = [];
      const execute = (input: unknown): string => {
        asked.push(input);
        return 'sunny';
      };
      const weather = tool({
        description: 'Tells the weather',
        inputSchema: jsonSchema({ ...FORECAST, required: [...FORECAST.required] }),
        execute,
      });
      const ask = {
        ...once,
        model: models().chat(),
        tools: { weather },
        stopWhen: stepCountIs(3),
      };
      const result = mode === 'whole' ? await generateText(ask) : streamText(ask);
      expect(await result.text).toMatch(/^[A-Z]/);
      expect(asked).toHaveLength(1);
      expectForecast(asked[0]);
      expect((await result.steps).map(({ finishReason }) => finishReason)).toEqual([
        'tool-calls',
        'stop',
      ]);
    });

    it('toolChoice required and by name call', async () => {
      const tools: ToolSet = {
        weather: { inputSchema: forecast },
        rest: { inputSchema: forecast },
      };
      for (const toolChoice of ['required', { type: 'tool', toolName: 'rest' }] as const) {
        const { toolCalls } = await generateText({
          ...once,
          model: models().chat(),
          tools,
          toolChoice,
        });
        expect(toolCalls).toHaveLength(1);
        expectForecast(toolCalls[0]?.input);
        if (toolChoice !== 'required') expect(toolCalls[0]?.toolName).toBe('rest');
      }
    });

    it('structured output fits its schema in every way to ask for it', async () => {
      const model = models().chat();
      const { object } = await generateObject({ ...once, model, schema: forecast });
      expectForecast(object);
      const { output } = await generateText({
        ...once,
        model,
        output: Output.object({ schema: forecast }),
      });
      expect(output).toEqual(object);
      const streamed = streamObject({ ...once, model, schema: forecast });
      let last: unknown;
      for await (const part of streamed.partialObjectStream) last = part;
      expect(last).toEqual(object);
      expect(await streamed.object).toEqual(object);
    });

    it('embeds equal texts equally', async () => {
      const model = models().embedding();
      const { embedding, usage } = await embed({ model, value: 'a baton', maxRetries: 0 });
      const { embeddings } = await embedMany({ model, values: ['a baton', 'rain'], maxRetries: 0 });
      expect(embeddings[0]).toEqual(embedding);
      expect(embeddings[1]).not.toEqual(embedding);
      expect(usage.tokens).toBeGreaterThan(0);
    });

    it.each(['streamed', 'whole'] as const)('that leaves frees what it held: %s', async (mode) => {
      await expectFreed(dialect, mode, async (url, leave) => {
        const ask = { ...once, model: modelsAt(url).chat(), abortSignal: leave.signal };
        if (mode === 'whole') return generateText(ask);
        const stream = streamText({ ...ask, ...quiet });
        for await (const _delta of stream.textStream) leave.abort();
        return undefined;
      });
    });

    it('distinguishes errors by status', async () => {
      const bad = generateText({ ...once, model: models().chat(), topP: 5 });
      await expect(bad).rejects.toSatisfy(APICallError.isInstance);
      await expect(bad).rejects.toMatchObject({ statusCode: 400, isRetryable: false });
      const other = generateText({ ...once, model: models().chat('nobody') });
      await expect(other).rejects.toMatchObject({ statusCode: 404 });
      await expect(other).rejects.toThrow(/does not exist/);
      const errors: unknown[] = [];
      const streamed = streamText({
        ...once,
        model: models().chat('nobody'),
        onError: ({ error }) => void errors.push(error),
      });
      for await (const part of streamed.fullStream) expect(part.type).not.toBe('text-delta');
      expect(errors).toMatchObject([{ statusCode: 404 }]);
    });

    it.each([429, 500, 503] as const)('may try again after %i', async (status) => {
      const error = await troubleWith(dialect, status, (url) =>
        generateText({ ...once, model: modelsAt(url).chat() }),
      );
      expect(error).toMatchObject({ statusCode: status, isRetryable: true });
    });
  });
});
