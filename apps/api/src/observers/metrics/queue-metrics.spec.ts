import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../test/support/free-port';
import { ApiFixture } from '../../../test/api-fixture';
import { type Family, parseExposition, sumOf } from '../../../test/exposition';
import { until } from '../../../test/until';

const BODY = { prompt: 'x', max_tokens: 2, ignore_eos: true };

describe('the queue metrics', () => {
  let fixture: ApiFixture;
  let page: ReadonlyMap<string, Family>;

  afterEach(() => fixture.stop());

  const of = (name: string, stage: string): number => sumOf(page, name, { stage });

  async function scrape(): Promise<void> {
    page = parseExposition(await (await fetch(`${fixture.api.url}/metrics`)).text());
  }

  it('grow while no engine takes jobs, and are 0 again when the jobs have run', async () => {
    let isOpen = false;
    fixture = await ApiFixture.start({ engines: [{ isEager: true, takes: () => isOpen }] });
    const answers = [1, 2, 3].map(() => fixture.post('/v1/completions', BODY));
    await until(async () => {
      await scrape();
      return of('baton:queue_depth', 'aggregated') === 3;
    });
    await until(async () => {
      await scrape();
      return of('baton:waiting_sequences', 'aggregated') === 3;
    });
    const age = of('baton:queue_age_seconds', 'aggregated');
    expect(age).toBeGreaterThan(0);
    await scrape();
    expect(of('baton:queue_age_seconds', 'aggregated')).toBeGreaterThan(age);
    for (const stage of ['prefill', 'decode']) expect(of('baton:queue_depth', stage)).toBe(0);

    isOpen = true;
    await fixture.post('/v1/completions', BODY);
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    await until(async () => {
      await scrape();
      return of('baton:waiting_sequences', 'aggregated') === 0;
    });
    expect(of('baton:queue_depth', 'aggregated')).toBe(0);
    expect(of('baton:queue_age_seconds', 'aggregated')).toBe(0);
  });

  it('count jobs in the engines’ own queues where a policy places them', async () => {
    const port = await freePort();
    fixture = await ApiFixture.start({
      engines: [{ takes: () => false }],
      config: { exposeEngines: true, exposeEnginesPort: port },
    });
    await until(async () => {
      await scrape();
      return sumOf(page, 'baton:engines', { state: 'ready' }) === 1;
    });
    const leaving = new AbortController();
    const asked = fetch(`http://127.0.0.1:${port}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(BODY),
      signal: leaving.signal,
    }).catch(() => undefined);
    await until(async () => {
      await scrape();
      return of('baton:queue_depth', 'aggregated') === 1;
    });
    expect(sumOf(page, 'vllm:num_requests_waiting')).toBe(1);
    const own = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(sumOf(parseExposition(await own.text()), 'vllm:num_requests_waiting')).toBe(1);
    leaving.abort();
    await asked;
  });

  it('count jobs of a shared queue once, among the waiting requests of its engines', async () => {
    const closed = { stage: 'aggregated' as const, takes: () => false };
    fixture = await ApiFixture.start({
      engines: [
        { ...closed, engineId: 'fake-1' },
        { ...closed, engineId: 'fake-2', index: 1 },
      ],
    });
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = [1, 2, 3].map(() =>
      fetch(`${fixture.api.url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(BODY),
        signal,
      }).catch(() => undefined),
    );
    await until(async () => {
      await scrape();
      return of('baton:queue_depth', 'aggregated') === 3;
    });
    const waiting = page.get('vllm:num_requests_waiting')!.samples.map(({ value }) => value);
    expect(waiting.sort()).toEqual([1, 2]);
    expect(sumOf(page, 'vllm:num_requests_waiting_by_reason', { reason: 'capacity' })).toBe(3);
    leaving.abort();
    await Promise.all(asked);
  });

  it('count requests refused because the queue is full, as vLLM does since 0.32', async () => {
    fixture = await ApiFixture.start({
      engines: [{ takes: () => false }],
      config: { maxWaitingRequests: 1, vllmVersion: '0.32' },
    });
    const leaving = new AbortController();
    const first = fixture
      .post('/v1/completions', BODY, { signal: leaving.signal })
      .catch(() => undefined);
    await until(async () => {
      await scrape();
      return of('baton:queue_depth', 'aggregated') === 1;
    });
    expect((await fixture.post('/v1/completions', BODY)).status).toBe(429);
    await scrape();
    const name = 'vllm:admission_rejections_total';
    expect(sumOf(page, name, { reason: 'max_num_queued_reqs' })).toBe(1);
    expect(sumOf(page, name, { reason: 'max_num_queued_tokens' })).toBe(0);
    leaving.abort();
    await first;
  });
});
