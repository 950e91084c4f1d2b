import { OUTCOMES } from '@baton/analysis';
import { type Row, WorkloadBuilder } from '@baton/workload';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReferenceServer } from '../../../test/support/reference-server';
import { HttpStreams } from './http-stream';
import { type LoadOptions, type LoadRecord, runLoad } from './load-run';
import { ENDPOINTS, type Protocol } from './protocol/protocol';

let server: ReferenceServer;
beforeAll(async () => {
  server = await ReferenceServer.start();
});
afterAll(() => server.stop());

const TOKENS = 6;
/** Two processes read the same clock, each with an origin of its own resolution. */
const CLOCK_ERROR_MS = 0.2;
const row = (arrivalMs: number): Row => {
  return { arrivalUs: arrivalMs * 1_000, promptTokens: 7, outputTokens: TOKENS };
};

interface Wishes extends Partial<Omit<LoadOptions, 'workload'>> {
  readonly rows: readonly Row[];
  readonly protocol?: Protocol;
  readonly reference?: Readonly<Record<string, unknown>>;
}

let runs = 0;

async function load({ rows, protocol = 'openai', reference = {}, ...options }: Wishes): Promise<{
  readonly record: LoadRecord;
  readonly idPrefix: string;
}> {
  const builder = new WorkloadBuilder();
  for (const each of rows) builder.add(each);
  const path = ENDPOINTS[protocol];
  const headers = { 'content-type': 'application/json' };
  const streams = new HttpStreams({ origin: server.origin, path, headers, protocol });
  const idPrefix = `run${runs++}-`;
  try {
    const record = await runLoad({
      workload: builder.build(),
      streams,
      maxConcurrency: Infinity,
      deadlineMs: 10_000,
      keepsText: () => false,
      keepsDetails: true,
      idPrefix,
      bodyOf: () => JSON.stringify({ prompt: 'hi', max_tokens: TOKENS, stream: true, reference }),
      ...options,
    });
    return { record, idPrefix };
  } finally {
    await streams.close();
  }
}

function outcomes({ run }: LoadRecord): (string | undefined)[] {
  return Array.from(run.log.outcome, (code) => OUTCOMES[code]);
}

type Stamps = Awaited<ReturnType<ReferenceServer['stamps']>>;

/**
 * By how much each token came later here than the server wrote it, counted from the sending here
 * and from the arrival there, in ms. It is negative only when the generator reports a time too
 * short.
 */
function laterMs({ run, details }: LoadRecord, idPrefix: string, stamps: Stamps): number[] {
  return stamps.flatMap(({ id, receivedMs, writtenMs }) => {
    const i = Number(id.slice(idPrefix.length));
    const { gapsUs } = details![i]!;
    expect(gapsUs).toHaveLength(writtenMs.length - 1);
    let afterUs = run.log.firstTokenUs.at(i) - run.log.arrivalUs.at(i);
    return writtenMs.map((ms, k) => {
      if (k > 0) afterUs += gapsUs[k - 1]!;
      return afterUs / 1_000 - (ms - receivedMs);
    });
  });
}

describe('the load generator', () => {
  // test/measured/bench-accuracy.spec.ts has the upper limit of the error, on a machine left alone.
  it.each(['openai', 'openai-chat', 'responses'] as const)(
    'reports no token of %s earlier than the server wrote it',
    async (protocol) => {
      const rows = Array.from({ length: 40 }, (_none, i) => row(i * 13));
      const reference = { ttft_ms: 23, itl_ms: 7 };
      const { record, idPrefix } = await load({ rows, protocol, reference });
      const later = laterMs(record, idPrefix, await server.stamps(idPrefix));
      expect(later).toHaveLength(rows.length * TOKENS);
      expect(Math.min(...later)).toBeGreaterThan(-CLOCK_ERROR_MS);
      expect(new Set(outcomes(record))).toEqual(new Set(['completed']));
      expect(record.run.countedBy).toEqual({ usage: rows.length, events: 0 });
      expect(record.run.promptUsage).toEqual({ tokens: 7 * rows.length, requests: rows.length });
    },
  );

  it('sends at the instants of the workload, before the first answer begins', async () => {
    const rows = Array.from({ length: 30 }, (_none, i) => row(i * 10));
    const { record } = await load({ rows, reference: { ttft_ms: 3_000 } });
    const { log, lateness } = record.run;
    const sentMs = Array.from(log.arrivalUs, (us) => us / 1_000);
    const late = sentMs.map((ms, i) => ms - i * 10).sort((a, b) => a - b);
    expect(late[0]).toBeGreaterThanOrEqual(0);
    expect(Math.max(...log.arrivalUs)).toBeLessThan(Math.min(...log.firstTokenUs));
    // The histogram of lags rounds by up to 5 %, and the first request is sent without a timer.
    expect(lateness.schedule_lag_ms.p50).toBeGreaterThan(0.95 * late[13]! - 0.5);
    expect(lateness.schedule_lag_ms.p50).toBeLessThan(1.05 * late[17]! + 0.5);
  });

  it('keeps the number of requests under way within its limit', async () => {
    const rows = Array.from({ length: 9 }, () => row(0));
    const { record, idPrefix } = await load({ rows, maxConcurrency: 3 });
    const { log } = record.run;
    const stamps = await server.stamps(idPrefix);
    expect(stamps).toHaveLength(9);
    for (let i = 0; i < log.count; i++) {
      const underWay = Array.from(log.arrivalUs).filter((us, k) => {
        return us <= log.arrivalUs.at(i) && log.finishUs.at(k) > log.arrivalUs.at(i);
      });
      expect(underWay.length).toBeLessThanOrEqual(3);
    }
  });

  it('counts the events of an answer as tokens when the server does not count', async () => {
    const { record } = await load({ rows: [row(0)], reference: { usage: false } });
    expect(record.run.log.emittedTokens[0]).toBe(TOKENS);
    expect(record.run.countedBy).toEqual({ usage: 0, events: 1 });
  });

  it.each([
    [{ fail: 'http' }, 'http_503', 'failed', 'fails on request'],
    [{ fail: 'http', status: 429 }, 'http_429', 'rejected', 'fails on request'],
    [{ fail: 'in-stream' }, 'in_stream_error', 'failed', 'fails on request'],
    [{ fail: 'cut' }, 'cut_short', 'failed', 'the stream ended without its final event'],
    [{ fail: 'silent' }, 'timeout', 'failed', 'no whole answer within 0.5 s'],
  ])('counts %j by kind', async (reference, error, outcome, example) => {
    const rows = [row(0), row(1)];
    const deadlineMs = reference.fail === 'silent' ? 500 : 60_000;
    const { record } = await load({ rows, reference, deadlineMs });
    expect(record.run.failures).toEqual([{ error, count: 2, example }]);
    expect(outcomes(record)).toEqual([outcome, outcome]);
    expect(record.run.itl.count).toBe(0);
  });

  it('reports a server that does not listen', async () => {
    const builder = new WorkloadBuilder();
    builder.add(row(0));
    const target = { path: '/', headers: {}, protocol: 'openai' } as const;
    const streams = new HttpStreams({ ...target, origin: 'http://127.0.0.1:1' });
    const record = await runLoad({
      workload: builder.build(),
      streams,
      maxConcurrency: 1,
      deadlineMs: 5_000,
      keepsText: () => false,
      keepsDetails: false,
      idPrefix: '',
      bodyOf: () => '{}',
    });
    expect(record.run.failures).toMatchObject([{ error: 'no_connection', count: 1 }]);
    await streams.close();
  });

  it('sends the next turn when the previous answer has ended and its pause is over', async () => {
    const rows = [
      { ...row(0), session: 1 },
      { ...row(0), arrivalUs: 40_000, session: 1, after: 0 },
    ];
    const seen: string[] = [];
    const { record } = await load({
      rows,
      keepsText: (index) => index === 0,
      onText: (index, text) => seen.push(`${index}:${text}`),
    });
    const { arrivalUs, finishUs } = record.run.log;
    expect(arrivalUs.at(1) - finishUs.at(0)).toBeGreaterThanOrEqual(39_000);
    expect(seen).toEqual([
      `0:${Array.from({ length: TOKENS }, (_n, i) => ` word${i + 1}`).join('')}`,
    ]);
  });

  it('does not send a turn after a failed one', async () => {
    const rows = [row(0), { ...row(0), after: 0 }, { ...row(0), after: 1 }];
    const { record, idPrefix } = await load({ rows, reference: { fail: 'http' } });
    expect(await server.stamps(idPrefix)).toHaveLength(1);
    expect(record.run.failures.map(({ error, count }) => [error, count])).toEqual([
      ['turn_before_failed', 2],
      ['http_503', 1],
    ]);
  });

  it('ends with the results so far when it is interrupted', async () => {
    const interrupt = new AbortController();
    const rows = [row(0), row(1), row(60_000)];
    const { record } = await load({
      rows,
      signal: interrupt.signal,
      onProgress: (ended) => ended === 2 && interrupt.abort(),
    });
    expect(record.wasInterrupted).toBe(true);
    expect(outcomes(record)).toEqual(['completed', 'completed', 'unfinished']);
  });
});
