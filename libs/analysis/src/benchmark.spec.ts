import { describe, expect, it } from 'vitest';
import { benchmarkFigures, type BenchmarkRecord } from './benchmark';
import { IntervalHistogram } from './interval-histogram';
import { outcomeCode, RequestLog } from './request-log';

/** Requests as [sent ms, TTFT ms, gap ms, tokens]. Undefined for a failed one. */
function recordOf(
  requests: readonly (readonly [number, number, number, number] | undefined)[],
): BenchmarkRecord {
  const log = new RequestLog(requests.length);
  const itl = new IntervalHistogram();
  let itlSquareSum = 0;
  for (const [row, request] of requests.entries()) {
    log.outcome[row] = outcomeCode(request === undefined ? 'failed' : 'completed');
    if (request === undefined) continue;
    const [sentMs, ttftMs, gapMs, tokens] = request;
    log.promptTokens[row] = 10;
    log.emittedTokens[row] = tokens;
    log.arrivalUs.set(row, sentMs * 1_000);
    log.firstTokenUs.set(row, (sentMs + ttftMs) * 1_000);
    log.finishUs.set(row, (sentMs + ttftMs + gapMs * (tokens - 1)) * 1_000);
    itl.add(gapMs * 1_000, tokens - 1);
    itlSquareSum += (gapMs * 1_000) ** 2 * (tokens - 1);
  }
  const delay = { p50: 0, p99: 0, max: 0 };
  const none = new Float32Array(0);
  return {
    log,
    itl,
    itlSquareSum,
    peakOutputTokensPerSecond: 7,
    endUs: 4e6,
    lateness: {
      schedule_lag_ms: delay,
      event_loop_delay_ms: delay,
      cpu_share: 0,
      void: null,
      void_figures: [],
    },
    failures: [],
    countedBy: { usage: 0, events: 0 },
    promptUsage: { tokens: 0, requests: 0 },
    engines: [],
    lives: [],
    steps: 0,
    events: 0,
    series: {
      startUs: 0,
      intervalUs: 0,
      samples: 0,
      running: none,
      waiting: none,
      fetching: none,
      kvUsage: none,
      heldBlocks: none,
    },
  };
}

const ALL = {
  metrics: ['ttft', 'tpot', 'itl', 'e2el'],
  percentiles: [99],
  slo: undefined,
} as const;

describe('figures of a load run', () => {
  it('are those of vllm bench serve', () => {
    const record = recordOf([[0, 100, 10, 11], [500, 200, 20, 6], [2_600, 300, 0, 1], undefined]);
    const slo = { ttft: 250_000, tpot: 15_000 };
    expect(benchmarkFigures(record, { ...ALL, slo })).toEqual({
      duration: 4,
      completed: 3,
      failed: 1,
      total_input_tokens: 30,
      total_output_tokens: 18,
      request_throughput: 0.75,
      request_goodput: 0.25,
      output_throughput: 4.5,
      total_token_throughput: 12,
      max_output_tokens_per_s: 7,
      max_concurrent_requests: 2,
      rtfx: 0,
      mean_ttft_ms: 200,
      median_ttft_ms: 200,
      std_ttft_ms: 81.649658,
      p99_ttft_ms: 298,
      mean_tpot_ms: 15,
      median_tpot_ms: 15,
      std_tpot_ms: 5,
      p99_tpot_ms: 19.9,
      mean_itl_ms: expect.closeTo(13.333_333, 5),
      median_itl_ms: expect.closeTo(10, 1),
      std_itl_ms: expect.closeTo(4.714_045, 5),
      p99_itl_ms: 20,
      mean_e2el_ms: 266.666667,
      median_e2el_ms: 300,
      std_e2el_ms: 47.140452,
      p99_e2el_ms: 300,
    });
  });

  it('are 0 where nothing was measured, and no goodput without objectives', () => {
    const figures = benchmarkFigures(recordOf([undefined]), { ...ALL, percentiles: [50, 99.9] });
    expect(figures).toMatchObject({ completed: 0, failed: 1, request_goodput: null });
    expect(figures['p99.9_itl_ms']).toBe(0);
    expect(Object.values(figures).filter((value) => Number.isNaN(value))).toEqual([]);
  });

  it('contain only the requested latencies', () => {
    const figures = benchmarkFigures(recordOf([[0, 1, 1, 2]]), { ...ALL, metrics: ['tpot'] });
    expect(Object.keys(figures).filter((name) => name.endsWith('_ms'))).toEqual([
      'mean_tpot_ms',
      'median_tpot_ms',
      'std_tpot_ms',
      'p99_tpot_ms',
    ]);
  });
});
