import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture, eventsOf, readStream } from '../../../test/api-fixture';
import { lazyReader, rawPost } from '../../../test/raw-http';
import { until } from '../../../test/until';
import { SequenceTable } from '../../sequences/sequence-table';

const BODY = { prompt: 'the baton', max_tokens: 50, ignore_eos: true, stream: true };

/** A starved API admits fewer requests, and a busy machine starves it. */
const NEVER_STARVED = { starvedAfter: 600 };

let fixture: ApiFixture;

afterEach(() => fixture.stop());

function liveSequences(): number {
  return fixture.api.app.get(SequenceTable).size;
}

describe('a client that leaves', () => {
  it.each([true, false])('frees its request at once (stream: %s)', async (stream) => {
    fixture = await ApiFixture.start();
    const leave = new AbortController();
    const answer = fixture
      .post('/v1/completions', { ...BODY, stream }, { signal: leave.signal })
      .catch(() => undefined);
    const run = await fixture.engine.next();
    leave.abort();
    await answer;
    await until(() => fixture.engine.abortedIds.includes(run.job.requestId));
    expect(liveSequences()).toBe(0);
  });

  it('frees every choice of its request in mid-stream', async () => {
    fixture = await ApiFixture.start();
    const leave = new AbortController();
    const answer = await fixture.post(
      '/v1/completions',
      { ...BODY, n: 3 },
      { signal: leave.signal },
    );
    const runs = [
      await fixture.engine.next(),
      await fixture.engine.next(),
      await fixture.engine.next(),
    ];
    runs[0]?.token(0);
    await eventsOf(answer).next();
    leave.abort();
    await until(() => fixture.engine.abortedIds.length === 3);
    expect(liveSequences()).toBe(0);
  });

  it('before its job starts prevents the start', async () => {
    let isOpen = false;
    fixture = await ApiFixture.start({ engines: [{ takes: () => isOpen }] });
    const leave = new AbortController();
    const answer = fixture
      .post('/v1/completions', BODY, { signal: leave.signal })
      .then((response) => response.text())
      .catch(() => undefined);
    await until(() => liveSequences() === 1);
    leave.abort();
    await answer;
    await until(() => fixture.engine.abortedIds.length === 1);
    isOpen = true;
    const next = fixture.post('/v1/completions', { ...BODY, stream: false });
    const run = await fixture.engine.next();
    expect(fixture.engine.runs).toEqual([run]);
    await run.play();
    expect((await next).status).toBe(200);
  });

  it('while it sends its body leaves no trace but its connection', async () => {
    fixture = await ApiFixture.start();
    const half = rawPost('/v1/completions', '{"prompt":', ['content-length: 100']);
    const socket = await lazyReader(fixture.port, half);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy();
    await closed;
    const answer = fixture.post('/v1/completions', { ...BODY, stream: false });
    const run = await fixture.engine.next();
    expect(fixture.engine.runs).toEqual([run]);
    await run.play();
    expect((await answer).status).toBe(200);
    expect(liveSequences()).toBe(0);
  });
});

describe('a client that does not read', () => {
  it('is disconnected when more than 1 MiB waits for it', async () => {
    fixture = await ApiFixture.start();
    const prompt = 'x';
    const body = JSON.stringify({ ...BODY, prompt, max_tokens: 60_000, logprobs: 5 });
    const socket = await lazyReader(fixture.port, rawPost('/v1/completions', body));
    const run = await fixture.engine.next();
    let index = 0;
    await until(() => {
      for (let i = 0; i < 200; i += 1) run.token(index++);
      return fixture.engine.abortedIds.length > 0;
    });
    expect(liveSequences()).toBe(0);
    const metrics = await (await fetch(`${fixture.api.url}/metrics`)).text();
    expect(metrics).toContain('baton:slow_readers_total 1\n');
    socket.destroy();
  });
});

describe('a full queue', () => {
  it('answers 429 with Retry-After, and admits requests again as it drains', async () => {
    let isOpen = false;
    fixture = await ApiFixture.start({
      config: { maxWaitingRequests: 2, ...NEVER_STARVED },
      engines: [{ takes: () => isOpen, isEager: true }],
    });
    const waiting = [1, 2].map(() => fixture.post('/v1/completions', BODY));
    await until(() => liveSequences() === 2);
    const refused = await fixture.post('/v1/completions', BODY);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    isOpen = true;
    fixture.hub.queue('aggregated').deliver();
    for (const answer of waiting) await readStream(await answer);
    const again = await fixture.post('/v1/completions', { ...BODY, stream: false });
    expect(again.status).toBe(200);
  });

  it('refuses a burst beyond the limit and admits the rest of it', async () => {
    fixture = await ApiFixture.start({
      config: { maxWaitingRequests: 5, ...NEVER_STARVED },
      engines: [{ takes: () => false }],
    });
    const leave = new AbortController();
    const answers = Array.from({ length: 12 }, () =>
      fixture.post('/v1/completions', BODY, { signal: leave.signal }),
    );
    const statuses = await Promise.all(answers.map(async (answer) => (await answer).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(7);
    leave.abort();
    await until(() => liveSequences() === 0);
  });
});

describe('a front that shuts down', () => {
  it('lets requests under way finish and refuses new ones', async () => {
    fixture = await ApiFixture.start();
    const answer = await fixture.post('/v1/completions', BODY);
    const stream = readStream(answer);
    const run = await fixture.engine.next();
    const stopped = fixture.api.stop();
    const refused = await fixture.post('/v1/completions', BODY);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('connection')).toBe('close');
    expect((await fetch(`${fixture.api.url}/health`)).status).toBe(503);
    await run.play();
    expect((await stream).finishReason).toBe('length');
    await stopped;
  });

  it('ends requests that take longer than the shutdown timeout', async () => {
    fixture = await ApiFixture.start({ config: { shutdownTimeout: 0.1 } });
    const stream = readStream(await fixture.post('/v1/completions', BODY));
    const run = await fixture.engine.next();
    await fixture.api.stop();
    const { error, events } = await stream;
    expect(error?.message).toContain('shutting down');
    expect(events.at(-1)).toBe('[DONE]');
    await until(() => fixture.engine.abortedIds.includes(run.job.requestId));
  });
});

describe('an unreachable broker', () => {
  it('makes new requests fail at once and old ones after the grace period', async () => {
    fixture = await ApiFixture.start({ config: { brokerGrace: 0.6 } });
    const streamed = readStream(await fixture.post('/v1/completions', BODY));
    const whole = fixture.post('/v1/completions', { ...BODY, stream: false });
    await fixture.engine.next();
    (await fixture.engine.next()).token(0);
    fixture.hub.goAway();
    expect((await fixture.post('/v1/completions', BODY)).status).toBe(503);
    expect((await fetch(`${fixture.api.url}/health/ready`)).status).toBe(503);
    expect((await whole).status).toBe(503);
    const { error, events } = await streamed;
    expect(error?.message).toContain('broker');
    expect(events.at(-1)).toBe('[DONE]');
    fixture.hub.comeBack();
    await until(() => fixture.engine.abortedIds.length === 2);
  });

  it('does no harm when it comes back in time', async () => {
    fixture = await ApiFixture.start({ config: { brokerGrace: 5 } });
    const streamed = readStream(await fixture.post('/v1/completions', BODY));
    const run = await fixture.engine.next();
    fixture.hub.goAway();
    fixture.hub.comeBack();
    await run.play();
    expect((await streamed).finishReason).toBe('length');
  });
});
