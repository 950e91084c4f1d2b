import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';

const BODY = { messages: [{ role: 'user', content: 'Why a baton?' }], max_tokens: 30 };

interface Message {
  readonly content: readonly { readonly text: string }[];
  readonly stop_reason: string;
  readonly usage: { readonly output_tokens: number };
}

describe.each(['openai', 'vllm'] as const)('/v1/messages in the %s dialect', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect }, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  it('streams the text that it answers in one piece', async () => {
    const whole = (await (await fixture.post('/v1/messages', BODY)).json()) as Message;
    const answer = await fixture.post('/v1/messages', { ...BODY, stream: true });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const stream = await answer.text();
    expect(stream).not.toContain('[DONE]');
    const deltas = [...stream.matchAll(/^data: (.*"text_delta".*)$/gm)].map(
      ([, data]) => (JSON.parse(data ?? '') as { delta: { text: string } }).delta.text,
    );
    expect(deltas.join('')).toBe(whole.content[0]?.text);
    expect(stream).toContain(`"stop_reason":"${whole.stop_reason}"`);
    expect(stream.trimEnd().endsWith('data: {"type":"message_stop"}')).toBe(true);
  });

  it('counts tokens without an engine', async () => {
    const before = fixture.engine.runs.length;
    const answer = await fixture.post('/v1/messages/count_tokens', { messages: BODY.messages });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toHaveProperty('input_tokens');
    expect(fixture.engine.runs).toHaveLength(before);
  });

  it.each([
    ['/v1/messages', '{', 400],
    ['/v1/messages', 'null', 400],
    ['/v1/messages', { ...BODY, max_tokens: 0 }, 400],
    ['/v1/messages', { ...BODY, model: 'nope' }, 404],
    ['/v1/messages', { ...BODY, stream: true, max_tokens: 10_000_000 }, 400],
    ['/v1/messages/count_tokens', { messages: 'x' }, 400],
  ])('answers bad input of %s (%j) with %i in its own shape', async (path, body, status) => {
    const before = fixture.engine.runs.length;
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(status);
    const { type, error } = (await answer.json()) as { type: string; error: { message: string } };
    expect(type).toBe('error');
    expect(Object.keys(error)).toEqual(['type', 'message']);
    expect(fixture.engine.runs).toHaveLength(before);
  });
});
