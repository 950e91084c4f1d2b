import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatonConfig } from '@baton/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import type { RecordedExchange } from './recorded-exchange';

const BODY = { prompt: 'pass the baton', max_tokens: 5, ignore_eos: true };

describe('the bytes sent to clients', () => {
  let folder = '';
  let file = '';
  let fixture: ApiFixture | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-wire-'));
    file = join(folder, 'lines.jsonl');
  });
  afterEach(async () => {
    await fixture?.stop();
    fixture = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(config: Partial<BatonConfig>): Promise<ApiFixture> {
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    return fixture;
  }

  /** Lines, once all are written. */
  async function linesOf<Line>(): Promise<Line[]> {
    await fixture?.stop();
    fixture = undefined;
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Line);
  }

  async function textOf(answer: Promise<Response>): Promise<string> {
    return (await answer).text();
  }

  it('are logged write for write and byte for byte, for streams only', async () => {
    const { post } = bound(await start({ logFrames: file }));
    const streamed = await textOf(post('/v1/completions', { ...BODY, stream: true }));
    await textOf(post('/v1/completions', BODY));
    const lines = await linesOf<{ bytes?: string; at_us: number; end?: boolean; write?: number }>();
    expect(lines.map(({ bytes }) => bytes ?? '').join('')).toBe(streamed);
    expect(lines.at(-1)).toMatchObject({ end: true });
    const instants = lines.map(({ at_us }) => at_us);
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
  });

  it('are recorded with the request, without credentials, refusals included', async () => {
    const { post } = bound(await start({ recordAnswers: file }));
    const headers = { authorization: 'Bearer secret', 'x-mine': 'shown' };
    const whole = await textOf(post('/v1/completions', BODY, { headers }));
    const streamed = await textOf(post('/v1/completions', { ...BODY, stream: true }));
    const refused = await textOf(post('/v1/completions', { ...BODY, n: 0 }));
    const lines = await linesOf<RecordedExchange>();
    expect(lines.map(({ status }) => status)).toEqual([200, 200, 400]);
    const texts = lines.map(({ writes }) => writes.map(([, text]) => text).join(''));
    expect(texts).toEqual([whole, streamed, refused]);
    expect(lines[0]).toMatchObject({ path: '/v1/completions', body: BODY, complete: true });
    expect(lines[0]?.headers).toMatchObject({ authorization: '[redacted]', 'x-mine': 'shown' });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('are played again for the same request, whatever the order of its keys', async () => {
    const { post } = bound(await start({ recordAnswers: file }));
    const streamedBody = { ...BODY, stream: true, stream_options: { include_usage: true } };
    const whole = await textOf(post('/v1/completions', BODY));
    const streamed = await textOf(post('/v1/completions', streamedBody));
    const refused = await textOf(post('/v1/completions', { ...BODY, n: 0 }));
    await linesOf();
    const player = bound(await start({ play: file }));
    const turned = Object.fromEntries(Object.entries(BODY).reverse());
    const answer = await player.post('/v1/completions', turned);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.text()).toBe(whole);
    expect(await textOf(player.post('/v1/completions', streamedBody))).toBe(streamed);
    const again = await player.post('/v1/completions', { ...BODY, n: 0 });
    expect([again.status, await again.text()]).toEqual([400, refused]);
    const unknown = await player.post('/v1/completions', { ...BODY, prompt: 'other' });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: 'not_recorded' } });
  });

  it('are played in turn when the same request was recorded more than once', async () => {
    const exchange = (text: string): string =>
      JSON.stringify({
        baton_exchange: 1,
        path: '/v1/completions',
        body: BODY,
        complete: true,
        status: 200,
        answer_headers: { 'content-type': 'text/plain' },
        writes: [[0, text]],
      });
    writeFileSync(file, `${['one', 'two'].map(exchange).join('\n')}\n`);
    const { post } = bound(await start({ play: file }));
    const texts = [];
    for (let i = 0; i < 3; i += 1) texts.push(await textOf(post('/v1/completions', BODY)));
    expect(texts).toEqual(['one', 'two', 'one']);
  });

  it.each([
    ['', 'holds no answers'],
    ['nonsense\n', 'line 1: not JSON'],
    ['{"a":1}\n', 'line 1: not an exchange'],
  ])('is not played from a file with %j', async (content, message) => {
    writeFileSync(file, content);
    await expect(ApiFixture.start({ config: { play: file } })).rejects.toThrow(message);
  });

  it('are accompanied by events: one line for each', async () => {
    const { post } = bound(await start({ logRequests: file }));
    await textOf(post('/v1/completions', BODY, { headers: { 'x-request-id': 'mine' } }));
    await textOf(post('/v1/completions', { ...BODY, n: 0 }));
    const lines = await linesOf<{ event: string; request_id?: string }>();
    expect(lines.map(({ event }) => event)).toEqual([
      ...['arrived', 'scheduled', 'first_token', 'ended', 'refused'],
    ]);
    expect(lines[0]).toMatchObject({
      request_id: 'mine',
      max_tokens: 5,
      endpoint: '/v1/completions',
    });
    expect(lines[3]).toMatchObject({ finish_reason: 'length', output_tokens: 5 });
    expect(lines[4]).toMatchObject({ error: 'invalid_value' });
  });
});

function bound(fixture: ApiFixture): Pick<ApiFixture, 'post'> {
  return { post: fixture.post.bind(fixture) };
}
