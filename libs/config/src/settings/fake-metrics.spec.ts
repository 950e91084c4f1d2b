import type { EnginePresence } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { parseFakeMetrics, fakeValueAt, readFakeMetrics, withFakeMetrics } from './fake-metrics';

/** The value that a scrape shows of the running requests, `seconds` after the start. */
function running(text: string | number, seconds: number): number {
  const fake = parseFakeMetrics(JSON.stringify({ 'running-requests': text }));
  return fake?.runningRequests ? fakeValueAt(fake.runningRequests, seconds) : Number.NaN;
}

const GAUGES = {
  running: 1,
  waitingCapacity: 2,
  waitingDeferred: 3,
  kvUsage: 0.25,
  heldBlocks: 4,
  numBlocks: 100,
  clockLagMs: 0,
  stepMs: 0,
};
const ENGINE: EnginePresence = {
  engineId: 'e',
  stage: 'decode' as const,
  index: 0,
  name: 'D0',
  pid: 1,
  host: 'h',
  model: 'm',
  state: 'ready' as const,
  gauges: GAUGES,
  counters: {},
  histograms: {},
};

describe('fake metrics', () => {
  it.each([
    ['oscillate:0:10:4s', [0, 5], [1, 10], [2, 5], [3, 0], [4, 5], [0.5, 5 + 5 * Math.SQRT1_2]],
    ['oscillate:10:0:4s', [0, 5], [1, 0], [3, 10]],
    ['ramp:10:0:5s', [0, 10], [1, 8], [2.5, 5], [5, 0], [500, 0]],
    ['rampreset:0:10:5s', [0, 0], [2.5, 5], [4.5, 9], [5, 0], [7.5, 5]],
    ['squarewave:2:8:500ms', [0, 2], [0.2, 2], [0.25, 8], [0.45, 8], [0.5, 2], [0.75, 8]],
    [7, [0, 7], [1_000, 7]],
  ] as [string | number, ...[number, number][]][])(
    '%s is a function of time alone',
    (text, ...points) => {
      for (const [seconds, value] of points) expect(running(text, seconds)).toBeCloseTo(value, 9);
    },
  );

  it('replace the gauges that they name, in whole requests', () => {
    const fake = { 'running-requests': 'ramp:0:10:4s', 'waiting-requests': 6.9 };
    const shown = withFakeMetrics(ENGINE, parseFakeMetrics(JSON.stringify(fake)) ?? {}, 1.5);
    expect(shown.gauges).toEqual({ ...GAUGES, running: 3, waitingCapacity: 6, waitingDeferred: 0 });
    const usage = parseFakeMetrics('{"kv_cache_usage":"squarewave:0.1:0.9:2s"}') ?? {};
    expect(withFakeMetrics(ENGINE, usage, 1).gauges).toEqual({ ...GAUGES, kvUsage: 0.9 });
  });

  it('are off by default', () => {
    expect([parseFakeMetrics(undefined), parseFakeMetrics('{}')]).toEqual([undefined, undefined]);
  });

  it.each([
    ['running-requests', -1],
    ['running-requests', true],
    ['running-requests', 'sine:0:1:5s'],
    ['running-requests', 'ramp:0:1'],
    ['running-requests', 'ramp:0:1:0s'],
    ['running-requests', 'ramp:0:1:soon'],
    ['running-requests', 'ramp::1:5s'],
    ['kv-cache-usage', 'ramp:0:1.1:5s'],
    ['loras', [{ running: 'a' }]],
    ['request-success-total', {}],
  ])('refuse %s of %j', (name, value) => {
    expect(readFakeMetrics({ [name]: value })).toMatchObject({ kind: 'problem', path: [name] });
  });
});
