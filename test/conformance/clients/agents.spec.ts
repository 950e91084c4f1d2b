import Anthropic from '@anthropic-ai/sdk';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../apps/api/test/api-fixture';
import { FORECAST, MODEL, QUESTION } from './server';

/** Far above the turns of a correct loop. A loop that does not end reaches it. */
const MOST_TURNS = 8;
const SCHEMA = { ...FORECAST, required: [...FORECAST.required] };
const TOOLS = [
  { name: 'get_weather', description: 'Tells the weather of a city.' },
  { name: 'book_table', description: 'Reserves seats in a restaurant.' },
];
/** Questions that differ in the tools that fit them. */
const QUESTIONS = [QUESTION, 'Please reserve seats for two.', 'Who are you?'];

/** One turn: the names of the calls that the model makes. */
type Turn = () => Promise<readonly string[]>;

/** The calls of all turns, until one makes none. */
async function callsUntilAnswered(turn: Turn): Promise<string[]> {
  const calls: string[] = [];
  for (let at = 0; at < MOST_TURNS; at += 1) {
    const made = await turn();
    if (made.length === 0) return calls;
    calls.push(...made);
  }
  return expect.fail(`no answer in text after ${MOST_TURNS} turns: ${calls.join(', ')}`);
}

function chatAgent(url: string, question: string): Turn {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
  const tools = TOOLS.map((one) => ({
    type: 'function' as const,
    function: { ...one, parameters: SCHEMA },
  }));
  return async () => {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages, tools });
    const { message } = choices[0]!;
    messages.push(message);
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'done' });
    return calls.map((call) => call.function.name);
  };
}

function responsesAgent(url: string, question: string): Turn {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
  let previous: string | null = null;
  const tools = TOOLS.map((one) => ({
    type: 'function' as const,
    ...one,
    parameters: SCHEMA,
    strict: true,
  }));
  return async () => {
    const asked = { model: MODEL, input, tools, previous_response_id: previous };
    const { id, output } = await client.responses.create(asked);
    previous = id;
    const calls = output.filter((item) => item.type === 'function_call');
    input = calls.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'done',
    }));
    return calls.map(({ name }) => name);
  };
}

/** Adds words after the results, as coding agents do. */
function messagesAgent(url: string, question: string): Turn {
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
  const tools = TOOLS.map((one) => ({ ...one, input_schema: { ...SCHEMA } }));
  return async () => {
    const asked = { model: MODEL, max_tokens: 400, messages, tools };
    const { content } = await client.messages.create(asked);
    const calls = content.filter((block) => block.type === 'tool_use');
    const results = calls.map(({ id }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: 'done',
    }));
    const reminder = { type: 'text' as const, text: `Remember: ${question}` };
    messages.push(
      { role: 'assistant', content },
      { role: 'user', content: [...results, reminder] },
    );
    return calls.map(({ name }) => name);
  };
}

const AGENTS = [
  ['chat completions', chatAgent],
  ['responses', responsesAgent],
  ['messages', messagesAgent],
] as const;

describe.each(['openai', 'vllm'] as const)('the loop of an agent, %s dialect', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect }, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  it.each(AGENTS)('ends by itself over %s, after calls of what fits', async (_api, agent) => {
    const calls = await Promise.all(
      QUESTIONS.map((question) => callsUntilAnswered(agent(fixture.api.url, question))),
    );
    const names = calls.map((made) => [...new Set(made)]);
    expect(names).toEqual([['get_weather'], ['book_table'], []]);
  });

  it('ends by itself in the AI SDK', async () => {
    const provider = createOpenAI({ baseURL: `${fixture.api.url}/v1`, apiKey: 'none' });
    const tools = Object.fromEntries(
      TOOLS.map(({ name, description }) => {
        const inputSchema = jsonSchema(SCHEMA);
        return [name, tool({ description, inputSchema, execute: () => 'done' })];
      }),
    );
    for (const model of [provider(MODEL), provider.chat(MODEL)]) {
      const stopWhen = stepCountIs(MOST_TURNS);
      const { steps, text } = await generateText({ model, prompt: QUESTION, tools, stopWhen });
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(text).not.toBe('');
    }
  });
});
