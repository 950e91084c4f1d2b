import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';

const CHAT = { messages: [{ role: 'user', content: 'Why does a relay need a baton?' }] };

describe('answers of a front with an engine behind it', () => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
  });

  afterAll(() => fixture.stop());

  it('streams the same text as it sends in one piece', async () => {
    const streamed = await readStream(
      await fixture.post('/v1/chat/completions', { ...CHAT, stream: true }),
    );
    const whole = (await (await fixture.post('/v1/chat/completions', CHAT)).json()) as {
      choices: { message: { content: string }; finish_reason: string }[];
    };
    expect(streamed.text.length).toBeGreaterThan(20);
    expect(whole.choices[0]?.message.content).toBe(streamed.text);
    expect(whole.choices[0]?.finish_reason).toBe(streamed.finishReason);
  });

  it('ends a stream with [DONE] and gives every chunk the same head', async () => {
    const { events, chunks } = await readStream(
      await fixture.post('/v1/chat/completions', { ...CHAT, stream: true }),
    );
    expect(events.at(-1)).toBe('[DONE]');
    const heads = chunks.map(({ id, created, model }) => `${id} ${created} ${model}`);
    expect(new Set(heads).size).toBe(1);
  });

  it('names answers after the X-Request-Id and echoes it', async () => {
    const answer = await fixture.post(
      '/v1/completions',
      { prompt: 'a', max_tokens: 2 },
      {
        headers: { 'x-request-id': 'mine-7' },
      },
    );
    expect(answer.headers.get('x-request-id')).toBe('mine-7');
    expect(((await answer.json()) as { id: string }).id).toBe('cmpl-mine-7');
  });

  it('answers several prompts and choices in order of their index', async () => {
    const answer = await fixture.post('/v1/completions', {
      prompt: ['one', 'two'],
      n: 2,
      max_tokens: 4,
      ignore_eos: true,
    });
    const { choices } = (await answer.json()) as { choices: { index: number; text: string }[] };
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(new Set(choices.map(({ text }) => text)).size).toBe(4);
  });

  it('streams several choices at once, each with its own end', async () => {
    const { chunks } = await readStream(
      await fixture.post('/v1/completions', { prompt: 'x', n: 3, max_tokens: 3, stream: true }),
    );
    const ends = chunks.flatMap(({ choices }) => choices ?? []).filter((c) => c.finish_reason);
    expect(ends.map(({ index }) => index).sort()).toEqual([0, 1, 2]);
  });

  it('answers an HTTP/1.0 client without chunks', async () => {
    const text = await rawExchange(fixture.port, 'HTTP/1.0');
    expect(text).toContain('data: [DONE]\n\n');
    expect(text).not.toMatch(/^[0-9a-f]+\r\n/m);
  });

  it('frames its chunks so that a pipelining client can read both answers', async () => {
    const text = await rawExchange(fixture.port, 'HTTP/1.1', 2);
    expect(text.match(/\[DONE\]/g)).toHaveLength(2);
    expect(text.match(/0\r\n\r\n/g)).toHaveLength(2);
  });

  it('keeps the connection for the next request after a stream', async () => {
    for (let i = 0; i < 3; i += 1) {
      const { events } = await readStream(
        await fixture.post('/v1/completions', { prompt: 'x', max_tokens: 3, stream: true }),
      );
      expect(events.at(-1)).toBe('[DONE]');
    }
  });
});

async function rawExchange(port: number, version: string, times = 1): Promise<string> {
  const { connect } = await import('node:net');
  const body = JSON.stringify({ prompt: 'x', max_tokens: 3, stream: true });
  const request =
    `POST /v1/completions ${version}\r\nhost: h\r\ncontent-type: ` +
    `application/json\r\ncontent-length: ${body.length}\r\n`;
  const last = `${request}connection: close\r\n\r\n${body}`;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(`${`${request}\r\n${body}`.repeat(times - 1)}${last}`);
  });
}

describe('cached tokens of several choices', () => {
  it.each([
    [1, 16],
    [3, 16],
  ])('of n: %i count once per prompt', async (n, expected) => {
    const fixture = await ApiFixture.start();
    try {
      const body = { prompt: ['one', 'two'], n, max_tokens: 1, ignore_eos: true };
      const answer = fixture.post('/v1/completions', body);
      for (let count = 0; count < 2 * n; count += 1) {
        const run = await fixture.engine.next();
        // The second prompt has no cache hit; every further choice hits the blocks of the first.
        const isFirst = Number(run.job.requestId.split('-').at(-1)) % n === 0;
        run.send({ kind: 'scheduled', extra: count === 0 || !isFirst ? 16 : 0 });
        run.endSequence();
        await run.finishJob();
      }
      const { usage } = (await (await answer).json()) as {
        usage: { prompt_tokens_details: { cached_tokens: number } };
      };
      expect(usage.prompt_tokens_details.cached_tokens).toBe(expected);
    } finally {
      await fixture.stop();
    }
  });
});
