import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, eventsOf } from '../../../test/api-fixture';

const LENGTH = { max_tokens: 12, seed: 3 };
const CHATS = [
  [{ role: 'user', content: 'Who runs first?' }],
  [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'And who runs last?' },
  ],
];

interface Rendered {
  readonly token_ids: readonly number[];
  readonly sampling_params: Readonly<Record<string, unknown>>;
}

interface Whole {
  readonly choices: readonly {
    readonly index: number;
    readonly text: string;
    readonly message: { readonly content: string };
    readonly finish_reason: string;
    readonly token_ids: readonly number[];
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

interface Chunk {
  readonly choices: readonly { readonly token_ids: number[]; readonly finish_reason: unknown }[];
  readonly usage: { readonly completion_tokens: number } | null;
}

describe.each(['openai', 'vllm'] as const)('a request in parts (%s)', (dialect) => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect }, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  async function post<T>(path: string, body: unknown): Promise<T> {
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as T;
  }

  async function refused(path: string, body: object): Promise<unknown> {
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(400);
    return ((await answer.json()) as { error: { message: string } }).error.message;
  }

  it('renders, generates and derenders to the same answer as the chat endpoint', async () => {
    const chat = { messages: CHATS[1], ...LENGTH, stop: ['zzz'] };
    const whole = await post<Whole>('/v1/chat/completions', chat);
    const rendered = await post<Rendered>('/v1/chat/completions/render', chat);
    expect(rendered.token_ids).toHaveLength(whole.usage.prompt_tokens);
    expect(rendered.sampling_params).toEqual({ ...LENGTH, stop: ['zzz'] });
    const generated = await post<Whole>('/inference/v1/generate', rendered);
    const derendered = await post<Whole>('/v1/chat/completions/derender', {
      generate_response: generated,
      prompt_tokens: rendered.token_ids.length,
    });
    expect(derendered.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(derendered.choices[0]?.finish_reason).toBe(whole.choices[0]?.finish_reason);
    expect(derendered.usage).toMatchObject({
      prompt_tokens: whole.usage.prompt_tokens,
      completion_tokens: whole.usage.completion_tokens,
    });
  });

  it.each([
    ['a stop string', { stop: ['the'], max_tokens: 64 }],
    ['a stop string within a token', { stop: ['h'], max_tokens: 64 }],
    [
      'a stop string that stays',
      { stop: ['the'], max_tokens: 64, include_stop_str_in_output: true },
    ],
  ])('derenders the text of a completion that ends at %s', async (_, change) => {
    const body = { prompt: 'Who runs first?', ...LENGTH, ignore_eos: true, ...change };
    const whole = await post<Whole>('/v1/completions', body);
    expect(whole.choices[0]?.finish_reason).toBe('stop');
    const [rendered] = await post<Rendered[]>('/v1/completions/render', body);
    const generated = await post<Whole>('/inference/v1/generate', rendered);
    const derendered = await post<Whole>('/v1/completions/derender', {
      generate_responses: [generated],
    });
    expect(derendered.choices[0]?.text).toBe(whole.choices[0]?.text);
    const last: Chunk[] = [];
    for await (const event of eventsOf(
      await fixture.post('/inference/v1/generate', { ...rendered, stream: true }),
    )) {
      if (event !== '[DONE]') last[0] = JSON.parse(event) as Chunk;
    }
    const { stop_reason } = generated.choices[0] as { stop_reason?: string };
    expect(last[0]?.choices[0]).toHaveProperty('finish_reason', 'stop');
    expect((last[0]?.choices[0] as { stop_reason?: string }).stop_reason).toBe(stop_reason);
  });

  it('derenders the text of a completion that ends at a stop token', async () => {
    const body = { prompt: 'Who runs first?', ...LENGTH, ignore_eos: true };
    const [rendered] = await post<Rendered[]>('/v1/completions/render', body);
    const first = await post<Whole>('/inference/v1/generate', rendered);
    const change = { stop_token_ids: [first.choices[0]!.token_ids[5]!] };
    const whole = await post<Whole>('/v1/completions', { ...body, ...change });
    const sampling_params = { ...rendered!.sampling_params, ...change };
    const generated = await post<Whole>('/inference/v1/generate', { ...rendered, sampling_params });
    const derendered = await post<Whole>('/v1/completions/derender', {
      generate_responses: [generated],
    });
    expect(derendered.choices[0]).toMatchObject({
      text: whole.choices[0]?.text,
      finish_reason: 'stop',
    });
  });

  it('does the same for every prompt of a completion', async () => {
    const body = { prompt: ['one', 'two runners'], ...LENGTH };
    const whole = await post<Whole>('/v1/completions', body);
    const rendered = await post<Rendered[]>('/v1/completions/render', body);
    const generate_responses = await Promise.all(
      rendered.map((one) => post<Whole>('/inference/v1/generate', one)),
    );
    const derendered = await post<Whole>('/v1/completions/derender', {
      generate_responses,
      prompt_tokens: rendered.map(({ token_ids }) => token_ids.length),
    });
    expect(derendered.choices.map(({ text }) => text)).toEqual(
      whole.choices.map(({ text }) => text),
    );
    expect(derendered.usage.prompt_tokens).toBe(whole.usage.prompt_tokens);
  });

  it('streams the same ids as in one piece, and the usage on request', async () => {
    const rendered = await post<Rendered>('/v1/completions/render', { prompt: 'x', ...LENGTH });
    const body = { ...(rendered as unknown as Rendered[])[0] };
    const whole = await post<Whole>('/inference/v1/generate', body);
    const stream_options = { include_usage: true };
    const events = [];
    const streamed = { ...body, stream: true, stream_options };
    for await (const event of eventsOf(await fixture.post('/inference/v1/generate', streamed))) {
      events.push(event);
    }
    expect(events.pop()).toBe('[DONE]');
    const chunks = events.map((event) => JSON.parse(event) as Chunk);
    const ids = chunks.flatMap(({ choices }) => choices.flatMap(({ token_ids }) => token_ids));
    expect(ids).toEqual(whole.choices[0]?.token_ids);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe(whole.choices[0]?.finish_reason);
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: ids.length });
  });

  it('answers several conversations in one, each as it would alone', async () => {
    const batch = await post<Whole>('/v1/chat/completions/batch', { messages: CHATS, ...LENGTH });
    const alone = await Promise.all(
      CHATS.map((messages) => post<Whole>('/v1/chat/completions', { messages, ...LENGTH })),
    );
    expect(batch.choices.map(({ index }) => index)).toEqual([0, 1]);
    expect(batch.choices.map(({ message }) => message.content)).toEqual(
      alone.map(({ choices }) => choices[0]?.message.content),
    );
    const sum = (of: (whole: Whole) => number): number =>
      alone.reduce((total, whole) => total + of(whole), 0);
    expect(batch.usage.prompt_tokens).toBe(sum(({ usage }) => usage.prompt_tokens));
    expect(batch.usage.completion_tokens).toBe(sum(({ usage }) => usage.completion_tokens));
  });

  it.each([
    ['a stream', { stream: true }, 'stream'],
    ['several choices', { n: 2 }, 'n'],
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools'],
    ['one conversation without its list', { messages: CHATS[0] }, 'messages'],
    ['no conversation', { messages: [] }, 'messages'],
    ['an empty conversation', { messages: [CHATS[0], []] }, 'messages'],
    ['a bad message', { messages: [[{ role: 'user', content: 7 }]] }, 'content'],
  ])('refuses a batch with %s', async (_, change, named) => {
    const body = { messages: CHATS, ...LENGTH, ...change };
    expect(await refused('/v1/chat/completions/batch', body)).toContain(named);
  });

  it.each([
    ['no answer to derender', {}, 'generate_response'],
    ['a choice without ids', { generate_response: { choices: [{}] } }, 'token_ids'],
    ['an id of no token', { generate_response: { choices: [{ token_ids: [9e8] }] } }, 'vocabulary'],
    [
      'an end that is none',
      { generate_response: { choices: [{ token_ids: [1], finish_reason: 'tired' }] } },
      'finish_reason',
    ],
    ['a stream', { generate_response: { choices: [] }, stream: true }, 'stream'],
  ])('refuses %s', async (_, body, named) => {
    expect(await refused('/v1/chat/completions/derender', body)).toContain(named);
  });

  it('refuses to render requests that it would refuse to answer', async () => {
    expect(await refused('/v1/chat/completions/render', { messages: [] })).toBe(
      await refused('/v1/chat/completions', { messages: [] }),
    );
    expect(await refused('/v1/completions/render', { prompt: 'x', n: 0 })).toBe(
      await refused('/v1/completions', { prompt: 'x', n: 0 }),
    );
  });
});
