import type { RequestTimeline, SequenceTimeline, TimelineSpan } from '@baton/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const PROMPT = 'the baton is handed from one runner to the next '.repeat(80);
const SHORT = { prompt: PROMPT, max_tokens: 6, ignore_eos: true };

interface Answer {
  readonly id: string;
}

async function timelineOf(url: string, id: string): Promise<RequestTimeline> {
  const answer = await fetch(`${url}/v1/requests/${id}/timeline`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as RequestTimeline;
}

/** Includes the facts of its engines, which come a moment later. */
async function settled(
  url: string,
  id: string,
  isTold: (of: SequenceTimeline) => boolean,
): Promise<RequestTimeline> {
  await until(async () => (await timelineOf(url, id)).sequences.every(isTold));
  return timelineOf(url, id);
}

function expectEndToEnd(spans: readonly TimelineSpan[], untilUs: number): void {
  let atUs = 0;
  for (const { start_us, end_us, duration_us } of spans) {
    expect(start_us).toBe(atUs);
    expect(duration_us).toBe((end_us ?? 0) - start_us);
    atUs = end_us ?? -1;
  }
  expect(atUs).toBe(untilUs);
}

describe('the timeline of a request that is handed over', () => {
  let cluster: ClusterFixture;
  let timeline: RequestTimeline;
  let sequence: SequenceTimeline;

  beforeAll(async () => {
    cluster = await ClusterFixture.start(
      { prefill: 1, decode: 1 },
      { prefillMaxNumBatchedTokens: 256 },
    );
    const answer = await cluster.post(SHORT, { 'x-request-id': 'mine' });
    const { id } = (await answer.json()) as Answer;
    timeline = await settled(
      cluster.api.url,
      id,
      ({ held, events }) =>
        typeof held?.end_us === 'number' && events.some(({ name }) => name === 'transfer_ended'),
    );
    sequence = timeline.sequences[0]!;
  });
  afterAll(() => cluster.stop());

  it('names the request, its engines and its tokens', () => {
    expect(timeline).toMatchObject({
      object: 'request.timeline',
      request_id: 'mine',
      endpoint: '/v1/completions',
      state: 'completed',
      speedup: 10,
      model: 'llama-3.1-8b',
    });
    expect(sequence).toMatchObject({
      state: 'completed',
      finish_reason: 'length',
      error: null,
      flow: 'route',
      output_tokens: 6,
      preemptions: 0,
      index: 0,
    });
    expect(sequence.prefill_engine?.id).not.toBe(sequence.decode_engine?.id);
    expect(sequence.transferred_tokens).toBe(sequence.prompt_tokens);
  });

  it('has its phases without gaps, from the arrival to the last token', () => {
    const names = sequence.phases.map(({ name }) => name);
    expect(names).toEqual(['queue', 'prefill', 'hold', 'transfer', 'decode_wait', 'decode']);
    expectEndToEnd(sequence.phases, sequence.events.find((e) => e.name === 'finished')!.at_us);
    expect(timeline.duration_us).toBeGreaterThanOrEqual(sequence.phases.at(-1)!.end_us!);
  });

  it('has the parts in which its prompt was computed', () => {
    const chunks = sequence.prefill_chunks;
    expect(chunks.length).toBe(Math.ceil(sequence.prompt_tokens / 256));
    expect(chunks.map(({ tokens }) => tokens).slice(0, -1)).toEqual(
      Array(chunks.length - 1).fill(256),
    );
    const tokens = chunks.reduce((sum, chunk) => sum + (chunk.tokens ?? 0), 0);
    expect(tokens).toBe(sequence.prompt_tokens);
    const prefill = sequence.phases.find(({ name }) => name === 'prefill')!;
    expect(Math.abs(chunks[0]!.start_us - prefill.start_us)).toBeLessThanOrEqual(20);
    expect(Math.abs(chunks.at(-1)!.end_us! - prefill.end_us!)).toBeLessThanOrEqual(20);
  });

  it('lists the events in order', () => {
    const order = ['arrived', 'taken', 'scheduled', 'held', 'taken', 'reserved'];
    const rest = ['transfer_started', 'transfer_ended', 'admitted', 'first_token', 'finished'];
    const told = sequence.events.map(({ name }) => name).filter((name) => name !== 'released');
    expect(new Set(told)).toEqual(new Set([...order, ...rest]));
    const at = (name: string): number =>
      sequence.events.find((event) => event.name === name)?.at_us ?? NaN;
    expect(at('held')).toBeGreaterThan(at('scheduled'));
    expect(at('transfer_started')).toBeGreaterThanOrEqual(at('held'));
    expect(at('transfer_ended')).toBeGreaterThanOrEqual(at('transfer_started'));
    expect(at('first_token')).toBeGreaterThan(at('admitted'));
    expect(sequence.held!.end_us!).toBeGreaterThanOrEqual(at('transfer_started'));
  });

  it('has the instant of every step', () => {
    expect(sequence.steps).toMatchObject({ count: 6, per_row: 1 });
    expect(sequence.steps.rows.map(([, tokens]) => tokens)).toEqual([1, 2, 3, 4, 5, 6]);
    const gaps = sequence.steps.rows.slice(1).map(([at], i) => at - sequence.steps.rows[i]![0]);
    for (const gap of gaps) expect(Math.abs(gap - 1_000)).toBeLessThanOrEqual(20);
  });

  it('is found by the ids of answer, request and sequence', async () => {
    for (const id of [timeline.id, 'mine', sequence.id]) {
      expect((await timelineOf(cluster.api.url, id)).id).toBe(timeline.id);
    }
  });

  it('is a trace for Perfetto on request', async () => {
    const url = `${cluster.api.url}/v1/requests/${timeline.id}/timeline?format=perfetto`;
    const answer = await fetch(url);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=/);
    const { traceEvents } = (await answer.json()) as {
      traceEvents: { ph: string; name: string; pid: number; ts?: number; args?: object }[];
    };
    const begun = traceEvents.filter(({ ph }) => ph === 'b').map(({ name }) => name);
    expect(begun).toEqual([
      'request 0',
      'queue',
      'prefill',
      'hold',
      'transfer',
      'decode wait',
      'decode',
    ]);
    const steps = traceEvents.filter(({ ph }) => ph === 'X');
    expect(steps.length).toBe(sequence.prefill_chunks.length + 6);
    expect(new Set(steps.map(({ pid }) => pid)).size).toBe(2);
  });

  it('refuses another format', async () => {
    const url = `${cluster.api.url}/v1/requests/${timeline.id}/timeline?format=otlp`;
    const answer = await fetch(url);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: 'format' } });
  });
});

describe('a timeline', () => {
  it('of an aggregated request has neither hold nor transfer', async () => {
    const cluster = await ClusterFixture.start({ aggregated: 1 }, {});
    const { id } = (await (await cluster.post({ ...SHORT, n: 2 })).json()) as Answer;
    const isTold = ({ prefill_chunks }: SequenceTimeline): boolean => prefill_chunks.length > 0;
    const { sequences } = await settled(cluster.api.url, id, isTold);
    expect(sequences.map(({ index }) => index)).toEqual([0, 1]);
    for (const { phases, held, prefill_engine, decode_engine } of sequences) {
      expect(phases.map(({ name }) => name)).toEqual(['queue', 'prefill', 'decode']);
      expect(held).toBeNull();
      expect(prefill_engine).toEqual(decode_engine);
    }
    await cluster.stop();
  });

  it('of the legs of an outside router has the part of each', async () => {
    const cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, {});
    const ask = async (more: object): Promise<Answer & { kv_transfer_params?: object }> =>
      (await (await cluster.post({ ...SHORT, ...more })).json()) as Answer;
    const remote = { do_remote_decode: true, do_remote_prefill: false };
    const first = await ask({ max_tokens: 1, kv_transfer_params: remote });
    const second = await ask({ kv_transfer_params: first.kv_transfer_params });
    const hasMoved = ({ events }: SequenceTimeline): boolean =>
      events.some(({ name }) => name === 'transfer_ended');
    const computed = await timelineOf(cluster.api.url, first.id);
    const generated = await settled(cluster.api.url, second.id, hasMoved);
    const legs = [computed, generated].map(({ sequences }) => sequences[0]!);
    expect(legs.map(({ flow }) => flow)).toEqual(['hold', 'attach']);
    const names = legs.map(({ phases }) => phases.map(({ name }) => name));
    expect(names[0]).toEqual(['queue', 'prefill']);
    expect(names[1]).toEqual(['hold', 'transfer', 'decode_wait', 'decode']);
    const end = legs[1]!.events.find(({ name }) => name === 'finished')!.at_us;
    expectEndToEnd(legs[1]!.phases, end);
    expect(legs[1]!.transferred_tokens).toBe(legs[1]!.prompt_tokens);
    await cluster.stop();
  });

  it('shows a request that runs in the phase that it is in', async () => {
    const fixture = await ApiFixture.start();
    const answer = fixture.post('/v1/completions', SHORT, { headers: { 'x-request-id': 'r' } });
    const run = await fixture.engine.next();
    const queued = await timelineOf(fixture.api.url, 'r');
    expect(queued.state).toBe('running');
    expect(queued.sequences[0]!.phases).toEqual([
      { name: 'queue', start_us: 0, end_us: null, duration_us: null },
    ]);
    run.send({ kind: 'scheduled' });
    run.token(0, 2);
    const at = async (): Promise<SequenceTimeline> =>
      (await timelineOf(fixture.api.url, 'r')).sequences[0]!;
    await until(async () => (await at()).output_tokens === 2);
    expect((await at()).phases.at(-1)).toMatchObject({ name: 'decode', end_us: null });
    run.endSequence({ first: 6, count: 4 });
    await (await answer).text();
    expect((await timelineOf(fixture.api.url, 'r')).state).toBe('completed');
    await fixture.stop();
  });

  it('of a failed request names the error', async () => {
    const fixture = await ApiFixture.start();
    const answer = fixture.post('/v1/completions', SHORT, { headers: { 'x-request-id': 'r' } });
    (await fixture.engine.next()).endSequence({
      reason: 'error',
      tail: 'worker_lost',
      first: 0,
      count: 0,
    });
    await (await answer).text();
    const { state, sequences } = await timelineOf(fixture.api.url, 'r');
    expect(state).toBe('failed');
    expect(sequences[0]).toMatchObject({ finish_reason: 'error', error: 'worker_lost' });
    await fixture.stop();
  });

  it('is served by every API process', async () => {
    const fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
    const other = await ApiFixture.beside(fixture);
    await (
      await fixture.post('/v1/completions', SHORT, { headers: { 'x-request-id': 'r' } })
    ).text();
    const [own, asked] = [await timelineOf(fixture.api.url, 'r'), await timelineOf(other.url, 'r')];
    expect(asked).toEqual(own);
    await other.stop();
    await fixture.stop();
  });

  it.each(['openai', 'vllm'] as const)('of an unknown request gives 404 (%s)', async (dialect) => {
    const fixture = await ApiFixture.start({ config: { dialect } });
    const answer = await fetch(`${fixture.api.url}/v1/requests/nobody/timeline`);
    expect(answer.status).toBe(404);
    const { error } = (await answer.json()) as { error: { code: unknown; message: string } };
    expect(error.code).toBe(dialect === 'vllm' ? 404 : 'request_not_found');
    await fixture.stop();
  });

  it.each([
    ['number of requests', { timelineMaxEntries: 2 }, [404, 200, 200]],
    ['time', { timelineTtl: 0.001 }, [404, 404, 404]],
  ] as const)('is kept for the configured %s', async (_name, config, statuses) => {
    const fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    const ids = ['a', 'b', 'c'];
    const statusOf = async (id: string): Promise<number> =>
      (await fetch(`${fixture.api.url}/v1/requests/${id}/timeline`)).status;
    for (const id of ids) {
      const init = { headers: { 'x-request-id': id } };
      await (await fixture.post('/v1/completions', SHORT, init)).text();
    }
    await until(async () => (await statusOf('a')) === 404);
    expect(await Promise.all(ids.map(statusOf))).toEqual(statuses);
    await fixture.stop();
  });

  it('is not kept when the limit is 0', async () => {
    const config = { timelineMaxEntries: 0 };
    const fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    const init = { headers: { 'x-request-id': 'a' } };
    await (await fixture.post('/v1/completions', SHORT, init)).text();
    expect((await fetch(`${fixture.api.url}/v1/requests/a/timeline`)).status).toBe(404);
    await fixture.stop();
  });
});
