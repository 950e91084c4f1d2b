import { once } from 'node:events';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ApiFixture } from '../../../test/api-fixture';

describe.each(['openai', 'vllm'] as const)('the official clients (%s)', (dialect) => {
  let fixture: ApiFixture;
  afterEach(() => fixture.stop());
  const start = async (config: object): Promise<string> => {
    fixture = await ApiFixture.start({
      config: { dialect, apiKey: ['sk-one'], servedModelName: ['m'], ...config },
      engines: [{ isEager: true }],
    });
    return fixture.api.url;
  };
  const chat = {
    model: 'm',
    max_tokens: 1,
    messages: [{ role: 'user' as const, content: 'x' }],
  };

  it('raise their error class for a refused key, and use a valid key unchanged', async () => {
    const url = await start({});
    const openai = (apiKey: string) =>
      new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.create(chat);
    const anthropic = (apiKey: string) =>
      new Anthropic({ apiKey, baseURL: url, maxRetries: 0 }).messages.create(chat);
    await expect(openai('sk-two')).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(anthropic('sk-two')).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    expect((await openai('sk-one')).usage?.completion_tokens).toBe(1);
    expect((await anthropic('sk-one')).usage.output_tokens).toBe(1);
  });

  it('raise their error class for a rate limit, with its headers', async () => {
    const url = await start({ limitRequestsPerMinute: 1 });
    const client = new OpenAI({ apiKey: 'sk-one', baseURL: `${url}/v1`, maxRetries: 0 });
    const startMs = performance.now();
    await client.chat.completions.create(chat);
    const refused = await client.chat.completions.create(chat).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    const { headers } = refused as InstanceType<typeof OpenAI.RateLimitError>;
    const tookSeconds = (performance.now() - startMs) / 1_000;
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(60 - tookSeconds);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0');
  });

  it('need a key to open a WebSocket, on which each turn is a request', async () => {
    const url = (await start({ limitRequestsPerMinute: 2 })).replace('http', 'ws');
    const open = (key: string): WebSocket =>
      new WebSocket(`${url}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
    const refused = open('sk-two');
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('401');

    const socket = open('sk-one');
    const ends: { type: string; error?: { code: unknown } }[] = [];
    const over = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString()) as (typeof ends)[number];
        if (/^(error|response\.(completed|incomplete))$/.test(event.type)) ends.push(event);
        if (ends.length === 3) resolve();
      });
    });
    await once(socket, 'open');
    const turn = { type: 'response.create', model: 'm', input: 'x', max_output_tokens: 16 };
    for (let i = 0; i < 3; i += 1) socket.send(JSON.stringify(turn));
    await over;
    expect(ends.map(({ type }) => type === 'error')).toEqual([false, false, true]);
    expect(ends[2]?.error?.code).toBe('rate_limit_exceeded');
    socket.terminate();
  });
});
