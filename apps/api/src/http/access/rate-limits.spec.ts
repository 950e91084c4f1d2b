import { type BatonConfig, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess } from '@baton/transport';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';
import { until } from '../../../test/until';
import { ApiServer } from '../../api-server';
import { resetTime } from './reset-time';

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const PROMPT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

describe('rate limits', () => {
  let fixture: ApiFixture | undefined;
  const start = async (config: Partial<BatonConfig>): Promise<ApiFixture> =>
    (fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] }));
  afterEach(() => fixture?.stop());

  const remaining = (answer: Response, budget = 'tokens'): number =>
    Number(answer.headers.get(`x-ratelimit-remaining-${budget}`));
  const left = async (url: string, budget = 'tokens'): Promise<number> =>
    remaining(await fetch(`${url}/v1/models`), budget);

  it('put the remaining budget on every answer, and no header when there is no limit', async () => {
    const plain = await start({});
    const silent = await plain.post('/v1/completions', { prompt: 'x', max_tokens: 1 });
    expect([...silent.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    await plain.stop();

    // One request returns to the budget every 15 s, longer than the requests below take.
    const { api, post } = await start({ limitRequestsPerMinute: 4, limitTokensPerMinute: 60_000 });
    const send = post.bind(fixture);
    const answers = [
      await send('/v1/completions', { prompt: PROMPT, max_tokens: 5 }),
      await send('/v1/completions', { prompt: PROMPT, max_tokens: 5, stream: true }),
      await send('/v1/completions', { prompt: PROMPT, max_tokens: -1 }),
      await fetch(`${api.url}/v1/models`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 200]);
    expect(answers.map((answer) => remaining(answer, 'requests'))).toEqual([3, 2, 1, 1]);
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit-requests')).toBe('4');
      expect(headers.get('x-ratelimit-limit-tokens')).toBe('60000');
      expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+(\.\d+)?(ms|s)$/);
      expect(headers.get('x-ratelimit-reset-tokens')).toMatch(/^\d+(\.\d+)?(ms|s)$/);
    }
  });

  it('do not count what reaches no handler', async () => {
    const { api, post } = await start({ limitRequestsPerMinute: 4 });
    const send = post.bind(fixture);
    expect((await send('/v1/completions', '{')).status).toBe(400);
    expect((await send('/v1/no/such', {})).status).toBe(404);
    expect(await left(api.url, 'requests')).toBe(4);
  });

  it('refuse the first request beyond the limit with 429, over all API processes', async () => {
    const limits = { limitRequestsPerMinute: 3 };
    const first = await start(limits);
    const second = await ApiServer.start({
      config: defaultConfig({ topology: '1A', port: 0, logLevel: 'silent', ...limits }),
      transport: attachInProcess(first.hub),
      log: createLogger({ name: 'api', level: 'silent' }),
    });
    const ask = (url: string): Promise<Response> =>
      fetch(`${url}/v1/completions`, {
        method: 'POST',
        body: JSON.stringify({ prompt: 'x', max_tokens: 1 }),
        headers: { 'content-type': 'application/json' },
      });
    const urls = [first.api.url, second.url];
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => ask(urls[i % 2] ?? '')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(refused).toHaveLength(7);
    for (const answer of refused) {
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(20);
      expect(remaining(answer, 'requests')).toBe(0);
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      expect(error).toMatchObject({ type: 'requests', code: 'rate_limit_exceeded', param: null });
      expect(error['message']).toMatch(
        /limit 3, used 3, requested 1\. Please try again in [\d.]+s/,
      );
    }
    await second.stop();
  });

  it('count prompt and output tokens, first the expected and then the actual number', async () => {
    const { api, engine, post } = await start({ limitTokensPerMinute: 1_000 });
    const send = post.bind(fixture);
    const startMs = performance.now();
    /** At most so many tokens have returned to the budget. */
    const returned = (): number => Math.ceil(((performance.now() - startMs) * 1_000) / 60_000);
    const whole = await send('/v1/completions', {
      prompt: PROMPT,
      max_tokens: 40,
      ignore_eos: true,
    });
    expect(remaining(whole)).toBe(950);
    await whole.text();
    const budget = fixture?.hub.budgets;
    expect(budget?.values()).toHaveLength(1);

    const brief = await send('/v1/completions', { prompt: PROMPT, max_tokens: 800, seed: 1 });
    expect(remaining(brief)).toBeLessThanOrEqual(140 + returned());
    const { usage } = (await brief.json()) as { usage: { total_tokens: number } };
    expect(usage.total_tokens).toBeLessThan(700);
    await until(async () => (await left(api.url)) >= 950 - usage.total_tokens);
    expect(await left(api.url)).toBeLessThanOrEqual(950 - usage.total_tokens + returned());
    expect(engine.runs).toHaveLength(2);
  });

  it('let an answer without a limit of its own run into debt, which is paid off first', async () => {
    const { api, post } = await start({ limitTokensPerMinute: 60, outputLengthMin: 100 });
    const send = post.bind(fixture);
    const chat = { messages: [{ role: 'user', content: 'x' }], stream: true };
    await readStream(await send('/v1/chat/completions', chat));
    await until(async () => (await left(api.url)) === 0);
    const refused = await send('/v1/completions', { prompt: 'x', max_tokens: 1 });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(10);
    const { error } = (await refused.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ type: 'tokens', code: 'rate_limit_exceeded' });
  });

  it('refuse a request larger than its limit and say that waiting does not help', async () => {
    const { engine, post } = await start({ limitTokensPerMinute: 100 });
    const body = { prompt: PROMPT, max_tokens: 91 };
    const answer = await post.call(fixture, '/v1/completions', body);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(await answer.text()).toContain('Request too large on tokens per minute: limit 100');
    expect(engine.runs).toHaveLength(0);
    const fitting = await post.call(fixture, '/v1/completions', { ...body, max_tokens: 90 });
    expect(fitting.status).toBe(200);
  });

  it('depend on the key', async () => {
    const { post, api } = await start({
      apiKey: ['sk-common'],
      limitRequestsPerMinute: 2,
      apiKeyLimits: {
        'sk-large': { limit_requests_per_minute: 50 },
        'sk-counted': { limit_tokens_per_minute: 30 },
      },
    });
    const limitOf = async (key: string): Promise<(string | null)[]> => {
      const { headers } = await fetch(`${api.url}/v1/models`, bearer(key));
      return ['requests', 'tokens'].map((budget) => headers.get(`x-ratelimit-limit-${budget}`));
    };
    expect(await limitOf('sk-common')).toEqual(['2', null]);
    expect(await limitOf('sk-large')).toEqual(['50', null]);
    expect(await limitOf('sk-counted')).toEqual(['2', '30']);
    const body = { prompt: 'x', max_tokens: 1 };
    const send = (key: string) => post.call(fixture, '/v1/completions', body, bearer(key));
    const statuses = [];
    for (const key of ['sk-common', 'sk-common', 'sk-common', 'sk-large']) {
      statuses.push((await send(key)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it('refuse requests without the broker, but do not limit reading endpoints', async () => {
    const { api, hub, post } = await start({ limitRequestsPerMinute: 2 });
    hub.goAway();
    expect((await post.call(fixture, '/v1/completions', { prompt: 'x' })).status).toBe(503);
    expect((await fetch(`${api.url}/v1/models`)).status).toBe(200);
    hub.comeBack();
  });
});

describe('the time until a limit is reset', () => {
  it.each([
    [0, '0ms'],
    [17, '17ms'],
    [999.2, '1s'],
    [8_640, '8.64s'],
    [59_999.5, '1m0s'],
    [360_000, '6m0s'],
    [3_602_000, '1h0m2s'],
  ])('of %d ms reads %s', (ms, text) => expect(resetTime(ms)).toBe(text));
});
