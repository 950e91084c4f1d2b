import type { BatonConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { until } from '../../../test/until';

const CLASSES = {
  interactive: { ttft: 60_000, tpot: 60_000, weight: 4, priority: 1 },
  batch: { weight: 1, priority: 5 },
};

let fixture: ApiFixture;
afterEach(() => fixture.stop());

async function start(config: Partial<BatonConfig> = {}): Promise<void> {
  fixture = await ApiFixture.start({
    config: { sloClasses: CLASSES, ...config },
    engines: [{}],
  });
}

interface Named {
  readonly sloClass?: string;
  readonly tenant?: string;
  readonly fields?: object;
}

function send(prompt: string, { sloClass, tenant, fields }: Named = {}, more: RequestInit = {}) {
  const headers = {
    ...(sloClass !== undefined && { 'x-slo-class': sloClass }),
    ...(tenant !== undefined && { 'x-gateway-inference-fairness-id': tenant }),
  };
  const body = { prompt, max_tokens: 2, ignore_eos: true, ...fields };
  return fetch(`${fixture.api.url}/v1/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...more,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

async function errorOf(answer: Response): Promise<Record<string, unknown>> {
  return ((await answer.json()) as { error: Record<string, unknown> }).error;
}

/** Lines of the scrape that begin with this name. */
async function series(name: string): Promise<readonly string[]> {
  const page = await (await fetch(`${fixture.api.url}/metrics`)).text();
  return page.split('\n').filter((line) => line.startsWith(name));
}

async function untilWaiting(count: number): Promise<void> {
  await until(async () => {
    const lines = await series('baton:flow_waiting_requests{');
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0) === count;
  });
}

describe('SLO classes of requests', () => {
  it('are refused when they do not exist, with a list of those that do', async () => {
    await start();
    const answer = await send('x', { sloClass: 'gold' });
    expect(answer.status).toBe(400);
    expect((await errorOf(answer))['message']).toBe(
      "x-slo-class 'gold' is no class of this server, which has interactive, batch.",
    );
  });

  it('are not read when none is configured', async () => {
    await start({ sloClasses: undefined });
    const answer = send('x', { sloClass: 'gold' });
    await (await fixture.engine.next()).play();
    expect((await answer).status).toBe(200);
    expect(await series('baton:slo_requests')).toEqual([]);
    expect(await series('baton:flow_')).toEqual([]);
  });

  it.each<[string, Named, number]>([
    ['the header', { sloClass: 'batch' }, 5],
    ['the priority', { fields: { priority: 5 } }, 5],
    ['nothing: the first one', {}, 1],
  ])('give engines their priority, by %s', async (_what, named, priority) => {
    await start({ schedulingPolicy: 'priority' });
    const answer = send('x', named);
    const run = await fixture.engine.next();
    expect(run.job.priority).toBe(priority);
    await run.play();
    expect((await answer).status).toBe(200);
  });

  it('do not set the priority when engines do not use it', async () => {
    await start();
    const answer = send('x', { sloClass: 'batch' });
    const run = await fixture.engine.next();
    expect(run.job.priority).toBe(0);
    await run.play();
    await answer;
  });

  it('have their own metrics', async () => {
    await start();
    const answer = send('x', { sloClass: 'interactive' });
    await (await fixture.engine.next()).play();
    await (await answer).text();
    await send('x', { sloClass: 'batch', fields: { max_tokens: -1 } });
    const good = 'baton:slo_requests_total{slo_class="interactive",outcome="good"} 1';
    await until(async () => (await series('baton:slo_requests_total')).includes(good));
    expect(await series('baton:slo_requests_total')).toContain(
      'baton:slo_requests_total{slo_class="batch",outcome="refused"} 1',
    );
    expect(await series('baton:slo_ttft_seconds_count')).toContain(
      'baton:slo_ttft_seconds_count{slo_class="interactive"} 1',
    );
  });
});

describe('the flow gate', () => {
  const ONE = { flowControl: 'priority', flowControlConcurrency: 1 } as const;

  /** Runs the jobs one after the other, and returns their order as prompt lengths. */
  async function played(count: number): Promise<readonly number[]> {
    const order: number[] = [];
    for (let i = 0; i < count; i++) {
      const run = await fixture.engine.next();
      order.push(run.job.promptTokens);
      await run.play();
    }
    return order;
  }

  async function outcomes(): Promise<readonly (string | undefined)[]> {
    const lines = await series('baton:flow_requests_total');
    return lines.map((line) => /outcome="(\w+)"/.exec(line)?.[1]).sort();
  }

  it('releases the higher class first', async () => {
    await start(ONE);
    const answers = [send('a', { sloClass: 'batch' })];
    await until(() => fixture.engine.runs.length === 1);
    answers.push(send('a a', { sloClass: 'batch' }));
    await untilWaiting(1);
    answers.push(send('a a a', { sloClass: 'interactive' }));
    await untilWaiting(2);
    expect(await series('baton:flow_under_way_requests')).toEqual([
      'baton:flow_under_way_requests 1',
    ]);
    expect(await played(3)).toEqual([1, 3, 2]);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const passed = (await series('baton:flow_requests_total')).filter((each) =>
      each.includes('outcome="passed"'),
    );
    expect(passed).toEqual([
      'baton:flow_requests_total{slo_class="batch",tenant="default",outcome="passed"} 2',
      'baton:flow_requests_total{slo_class="interactive",tenant="default",outcome="passed"} 1',
    ]);
  });

  it('sheds the lower class with 429, and refuses requests whose queue is full', async () => {
    await start({ ...ONE, flowControlQueue: 2, flowControlTotalQueue: 2 });
    const first = send('a', { sloClass: 'batch' });
    await until(() => fixture.engine.runs.length === 1);
    const shed = send('a', { sloClass: 'batch' });
    await untilWaiting(1);
    const urgent = [send('a', { sloClass: 'interactive' })];
    await untilWaiting(2);
    urgent.push(send('a', { sloClass: 'interactive' }));
    const answer = await shed;
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await errorOf(answer))['message']).toContain('higher classes');
    const full = await send('a', { sloClass: 'interactive' });
    expect(full.status).toBe(429);
    await played(3);
    const statuses = (await Promise.all([first, ...urgent])).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200]);
  });

  it('drops a client that leaves', async () => {
    await start(ONE);
    const first = send('a');
    await until(() => fixture.engine.runs.length === 1);
    const leaving = new AbortController();
    const left = send('a', {}, { signal: leaving.signal });
    left.catch(() => undefined);
    await untilWaiting(1);
    leaving.abort();
    await untilWaiting(0);
    await played(1);
    expect((await first).status).toBe(200);
    expect(fixture.engine.runs).toHaveLength(1);
    expect(await outcomes()).toEqual(['left', 'passed']);
  });

  it('keeps its requests while the broker is away, and releases them when it is back', async () => {
    await start(ONE);
    const leaving = new AbortController();
    const first = send('a', {}, { signal: leaving.signal });
    await fixture.engine.next();
    const second = send('a');
    await untilWaiting(1);
    fixture.hub.goAway();
    leaving.abort();
    await expect(first).rejects.toThrow();
    await until(async () => (await series('baton:flow_under_way_requests'))[0]!.endsWith(' 0'));
    await untilWaiting(1);
    fixture.hub.comeBack();
    await played(1);
    expect((await second).status).toBe(200);
  });

  it('gives up with 503 after the timeout', async () => {
    await start({ ...ONE, flowControlTimeout: 0.05 });
    const first = send('a');
    await until(() => fixture.engine.runs.length === 1);
    const late = await send('a');
    expect(late.status).toBe(503);
    expect((await errorOf(late))['code']).toBe('flow_timeout');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    await played(1);
    expect((await first).status).toBe(200);
    expect(await outcomes()).toEqual(['passed', 'timeout']);
  });

  it('takes turns between tenants, and frees the place of a failed request', async () => {
    await start(ONE);
    const answers = [send('a', { tenant: 'x' })];
    await until(() => fixture.engine.runs.length === 1);
    for (const [waiting, tenant] of ['x', 'x', 'y'].entries()) {
      answers.push(send('a '.repeat(waiting + 2).trim(), { tenant }));
      await untilWaiting(waiting + 1);
    }
    expect(await played(4)).toEqual([1, 4, 2, 3]);
    expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
    expect((await send('x', { fields: { max_tokens: 1_000_000 } })).status).toBe(400);
    expect(await series('baton:flow_under_way_requests')).toEqual([
      'baton:flow_under_way_requests 0',
    ]);
  });
});
