import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultTokenizer } from '@baton/text';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHATML_JINJA, MISTRAL_JINJA } from '../../../../../libs/text/test/jinja-templates';
import { ApiFixture } from '../../../test/api-fixture';

const tokenizer = defaultTokenizer();
const folder = mkdtempSync(join(tmpdir(), 'baton-jinja-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const USER = { role: 'user', content: 'Who runs first?' };
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: {} } }];
/** More than one request may hold a loop: such a body is planned in a thread. */
const LONG = { role: 'user', content: 'word '.repeat(10_000) };

async function started(source: string, dialect: 'openai' | 'vllm'): Promise<ApiFixture> {
  const chatTemplate = join(folder, `${dialect}.jinja`);
  writeFileSync(chatTemplate, source);
  const config = { chatTemplate, dialect, maxModelLen: 32_768 };
  return ApiFixture.start({ config, engines: [{ isEager: true }] });
}

describe.each(['openai', 'vllm'] as const)('prompts by an own Jinja template (%s)', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await started(CHATML_JINJA, dialect);
  });
  afterAll(() => fixture.stop());

  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };
  const textOf = async (body: object): Promise<string> => {
    const { tokens } = (await post('/tokenize', body)) as { tokens: number[] };
    return tokenizer.decode(tokens);
  };

  it.each<[string, object]>([
    ['one turn', { messages: [USER] }],
    ['instructions', { messages: [{ role: 'system', content: 'Be brief.' }, USER] }],
    ['tools', { messages: [USER], tools: TOOLS }],
    ['a long text', { messages: [USER, { role: 'assistant', content: 'I.' }, LONG] }],
  ])('have as many tokens as the rendered text: %s', async (_, conversation) => {
    const { tokens } = (await post('/tokenize', conversation)) as { tokens: number[] };
    const { usage } = (await post('/v1/chat/completions', { ...conversation, max_tokens: 4 })) as {
      usage: { prompt_tokens: number };
    };
    expect(usage.prompt_tokens).toBe(tokens.length);
    const text = tokenizer.decode(tokens);
    expect(text).toMatch(/^<\|im_start\|>(?:system|user)\n/);
    expect(text).toMatch(/<\|im_end\|>\n<\|im_start\|>assistant\n$/);
  });

  it('have calls, results and the variables of the request', async () => {
    const called = { name: 'weather', arguments: '{"city":"Rome"}' };
    const messages = [
      USER,
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: called }] },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'sunny' }] },
    ];
    const chat_template_kwargs = { enable_thinking: false };
    expect(await textOf({ messages, chat_template_kwargs })).toBe(
      '<|im_start|>user\nWho runs first?<|im_end|>\n<|im_start|>assistant\n\n<tool_call>\n' +
        '{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call><|im_end|>\n' +
        '<|im_start|>user\n<tool_response>\nsunny\n</tool_response><|im_end|>\n' +
        '<|im_start|>assistant\n<think>\n\n</think>\n\n',
    );
  });

  it('begin with the last prompt and its answer', async () => {
    const body = { messages: [USER], max_tokens: 12, seed: 3, ignore_eos: true };
    const { choices } = (await post('/v1/chat/completions', body)) as {
      choices: { message: { role: string; content: string } }[];
    };
    const next = await textOf({ messages: [USER, choices[0]!.message, USER] });
    const first = await textOf({ messages: [USER] });
    expect(next.startsWith(first + choices[0]!.message.content)).toBe(true);
  });
});

describe.each(['openai', 'vllm'] as const)('a template that refuses (%s)', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await started(MISTRAL_JINJA, dialect);
  });
  afterAll(() => fixture.stop());

  it.each([USER, LONG])('gives a 400 with its words', async (message) => {
    const messages = [message, message];
    for (const path of ['/v1/chat/completions', '/tokenize']) {
      const answer = await fixture.post(path, { messages });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: { message: 'Conversation roles must alternate user/assistant' },
      });
    }
  });
});
