import type { BatonConfig } from '@baton/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';

const MODELS = [
  'llama-3.1-8b',
  'qwen3-8b',
  'mixtral-8x7b',
  'deepseek-v3',
  'gpt-oss-20b',
  'opt-13b',
];
const MESSAGES = [{ role: 'user', content: 'How is the weather in Rome?' }];
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: PARAMETERS } }];

interface Usage {
  readonly prompt_tokens?: number;
  readonly input_tokens?: number;
}

describe.each(MODELS)('prompts for %s', (model) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    const config: Partial<BatonConfig> = { model, reasoning: true, maxModelLen: 2_048 };
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };
  const promptTokens = async (path: string, body: object): Promise<number | undefined> => {
    const { usage } = (await post(path, body)) as { usage: Usage };
    return usage.prompt_tokens ?? usage.input_tokens;
  };

  it('have the same number of tokens at every endpoint', async () => {
    const { count } = await post('/tokenize', { messages: MESSAGES });
    const chat = { messages: MESSAGES, max_tokens: 20 };
    expect(await promptTokens('/v1/chat/completions', chat)).toBe(count);
    const thinking = { type: 'adaptive' };
    const message = { messages: MESSAGES, max_tokens: 20, thinking };
    expect(await promptTokens('/v1/messages', message)).toBe(count);
    expect(await post('/v1/messages/count_tokens', { messages: MESSAGES, thinking })).toEqual({
      input_tokens: count,
    });
    const response = { input: MESSAGES, max_output_tokens: 20, reasoning: { effort: 'low' } };
    expect(await promptTokens('/v1/responses', response)).toBe(count);
  });

  it('also without reasoning', async () => {
    const chat = { messages: MESSAGES, max_tokens: 20, reasoning_effort: 'none' };
    const plain = await promptTokens('/v1/chat/completions', chat);
    const { input_tokens: counted } = await post('/v1/messages/count_tokens', {
      messages: MESSAGES,
    });
    expect(counted).toBe(plain);
    const message = { messages: MESSAGES, max_tokens: 20 };
    expect(await promptTokens('/v1/messages', message)).toBe(plain);
  });

  it('grow with tools, calls, results and reasoning', async () => {
    const called = {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      ],
    };
    const result = { role: 'tool', tool_call_id: 'c', content: 'Sunny.' };
    const bodies = [
      { messages: MESSAGES },
      { messages: MESSAGES, tools: TOOLS },
      { messages: [...MESSAGES, called], tools: TOOLS },
      { messages: [...MESSAGES, called, result], tools: TOOLS },
      { messages: [...MESSAGES, { ...called, reasoning: 'Ask the tool.' }, result], tools: TOOLS },
    ];
    const counts: number[] = [];
    for (const body of bodies) counts.push(Number((await post('/tokenize', body))['count']));
    expect([...counts].sort((a, b) => a - b)).toEqual(counts);
    expect(new Set(counts).size).toBe(counts.length);
  });
});
