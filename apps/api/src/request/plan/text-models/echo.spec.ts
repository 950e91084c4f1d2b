import { defaultTokenizer } from '@baton/text';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../../test/api-fixture';
import { ask, ENDPOINTS } from '../../../../test/every-endpoint';

const TEXT = 'Say it again, Grüße 👋: one, two, three, four, five, six, seven, eight, nine, ten.';
const COUNT = defaultTokenizer().encode(TEXT).length;

describe.each(['openai', 'vllm'] as const)('an echo in the %s dialect', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    const config = { dialect, textModel: 'echo' } as const;
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  describe.each([false, true])('(streamed: %s)', (stream) => {
    it.each(ENDPOINTS)('is the user’s text, at %s', async (endpoint) => {
      const seen = await ask(fixture, endpoint, { text: TEXT, stream });
      const expected = { status: 200, text: TEXT, isCut: false, completionTokens: COUNT };
      expect(seen).toEqual(expected);
    });

    it.each(ENDPOINTS)('is cut by the limit of tokens, at %s', async (endpoint) => {
      const seen = await ask(fixture, endpoint, { text: TEXT, maxTokens: 16, stream });
      expect(seen).toMatchObject({ status: 200, isCut: true, completionTokens: 16 });
      expect(TEXT.startsWith(seen.text)).toBe(true);
    });

    it.each(['chat', 'completions'] as const)('ends at a stop string, at %s', async (endpoint) => {
      const seen = await ask(fixture, endpoint, { text: TEXT, stream, more: { stop: ': one' } });
      expect(seen).toMatchObject({ text: 'Say it again, Grüße 👋', isCut: false });
    });

    it('of an empty message is empty', async () => {
      const seen = await ask(fixture, 'chat', { text: '', stream });
      expect(seen).toEqual({ status: 200, text: '', isCut: false, completionTokens: 1 });
    });
  });

  it('repeats the last message of the user, not one of others', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'First.' },
      { role: 'assistant', content: 'Second.' },
      { role: 'user', content: [{ type: 'text', text: 'Third.' }] },
    ];
    const seen = await ask(fixture, 'chat', { text: '', stream: false, more: { messages } });
    expect(seen.text).toBe('Third.');
  });

  it('is replaced where a schema or a required tool call decides the answer', async () => {
    const schema = { type: 'object', properties: { a: { const: 5 } }, required: ['a'] };
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    const more = { response_format };
    const seen = await ask(fixture, 'chat', { text: TEXT, stream: false, more });
    expect(JSON.parse(seen.text)).toMatchObject({ a: 5 });
    const tools = [{ type: 'function', function: { name: 'f', parameters: schema } }];
    const forced = { tools, tool_choice: 'required' };
    expect((await ask(fixture, 'chat', { text: TEXT, stream: false, more: forced })).text).toBe('');
    const free = await ask(fixture, 'chat', { text: TEXT, stream: false, more: { tools } });
    expect(free.text).toBe(TEXT);
  });

  it('answers each prompt of a list with itself', async () => {
    const body = { prompt: ['eins', 'zwei'], max_tokens: 50 };
    const answer = await fixture.post('/v1/completions', body);
    const { choices } = (await answer.json()) as { choices: { text: string }[] };
    expect(choices.map(({ text }) => text)).toEqual(['eins', 'zwei']);
  });
});
