import type { ClusterHello, ClusterPicture } from '@baton/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { until } from '../../../test/until';
import { MOST_VIEWERS, Viewers } from '../../observers/live-page/viewers';

const ASK = { prompt: 'hello there', max_tokens: 6, ignore_eos: true, stream: true };

interface Seen {
  readonly hello: ClusterHello[];
  readonly pictures: ClusterPicture[];
  readonly close: () => void;
}

let fixture: ApiFixture;
beforeEach(async () => {
  fixture = await ApiFixture.start();
});
afterEach(() => fixture.stop());

/** Reads the stream in the background until it is closed. */
async function look(): Promise<Seen> {
  const leave = new AbortController();
  const answer = await fetch(`${fixture.api.url}/ui/stream`, { signal: leave.signal });
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const seen: Seen = { hello: [], pictures: [], close: () => leave.abort() };
  void read(answer, seen).catch(() => undefined);
  await until(() => seen.pictures.length > 0);
  return seen;
}

async function read(answer: Response, seen: Seen): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of answer.body ?? []) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      if (name === 'hello') seen.hello.push(JSON.parse(data) as ClusterHello);
      else seen.pictures.push(JSON.parse(data) as ClusterPicture);
    }
  }
}

const viewers = (): number => fixture.api.app.get(Viewers).size;

describe('the stream of pictures', () => {
  it('names its process and shows the engines', async () => {
    const seen = await look();
    expect(seen.hello[0]).toMatchObject({ topology: '1A', speedup: 1, model: 'llama-3.1-8b' });
    const [engine] = seen.pictures[0]!.engines;
    expect(engine).toMatchObject({ role: 'aggregated', state: 'ready', numBlocks: 10_000 });
    seen.close();
  });

  it('shows a request in each phase, and names it once', async () => {
    const seen = await look();
    const last = (): ClusterPicture => seen.pictures.at(-1)!;
    const answer = fixture.post('/v1/completions', ASK);
    const run = await fixture.engine.next();
    await until(() => last().phases[0] === 1);
    expect(last().requests.slice(1)).toEqual([0, -1, 0]);
    run.send({ kind: 'scheduled' });
    await until(() => last().phases[1] === 1);
    expect(last().requests.slice(1)).toEqual([1, 0, 0]);
    run.token(0, 2);
    await until(() => last().phases[3] === 1);
    expect(last().requests.slice(1)).toEqual([3, 0, 2]);
    const [key] = last().requests;
    run.endSequence({ first: 6, count: 4 });
    await (await answer).text();
    await until(() => last().requests.length === 0);
    const named = seen.pictures.flatMap(({ names }) => names);
    expect(named).toEqual([[key, run.job.requestId, run.job.promptTokens, 6]]);
    seen.close();
  });

  it('measures only while a viewer is connected', async () => {
    const seen = await look();
    const answer = fixture.post('/v1/completions', ASK);
    const run = await fixture.engine.next();
    run.token(0);
    run.token(1, 2);
    const rates = (): ClusterPicture['rates'][] => seen.pictures.map((each) => each.rates);
    await until(() => rates().some(({ itlMs }) => itlMs !== null));
    const { ttftMs, itlMs } = rates().findLast((each) => each.ttftMs !== null)!;
    expect(ttftMs!.p50).toBeGreaterThan(0);
    expect(itlMs!.p99).toBeGreaterThanOrEqual(itlMs!.p50);
    expect(Math.max(...rates().map((each) => each.tokensPerSecond))).toBeGreaterThan(0);
    expect(Math.max(...rates().map((each) => each.requestsPerSecond))).toBeGreaterThan(0);
    run.endSequence({ first: 6, count: 3 });
    await (await answer).text();
    await until(() => rates().some(({ finishedPerSecond }) => finishedPerSecond > 0));
    seen.close();
  });

  it('sends a later viewer the names sent to earlier ones', async () => {
    const first = await look();
    const answer = fixture.post('/v1/completions', ASK);
    const run = await fixture.engine.next();
    await until(() => first.pictures.some(({ names }) => names.length > 0));
    const second = await look();
    expect(second.hello[0]!.names.map(([, name]) => name)).toEqual([run.job.requestId]);
    run.endSequence({ first: 6, count: 6 });
    await (await answer).text();
    first.close();
    second.close();
  });

  it('has a limit of viewers, and admits another once one has left', async () => {
    const all = await Promise.all(Array.from({ length: MOST_VIEWERS }, () => look()));
    const refused = await fetch(`${fixture.api.url}/ui/stream`);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { type: 'server_error' } });
    all[0]!.close();
    await until(() => viewers() === MOST_VIEWERS - 1);
    (await look()).close();
    for (const seen of all) seen.close();
    await until(() => viewers() === 0);
  });
});

describe('the live page', () => {
  it('is served with and without its slash, and may load no external resource', async () => {
    const moved = await fetch(`${fixture.api.url}/ui`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'ui/']);
    const page = await fetch(`${fixture.api.url}/ui/`);
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const html = await page.text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      expect(link).toMatch(/^\.\/assets\//);
      const asset = await fetch(new URL(link, `${fixture.api.url}/ui/`));
      expect(asset.status).toBe(200);
      expect(asset.headers.get('cache-control')).toMatch(/immutable/);
    }
  });

  it.each(['/ui/nothing', '/ui/assets/nothing.js', '/ui/..%2fpackage.json'])(
    'is all there is: %s is 404',
    async (path) => {
      expect((await fetch(`${fixture.api.url}${path}`)).status).toBe(404);
    },
  );
});
