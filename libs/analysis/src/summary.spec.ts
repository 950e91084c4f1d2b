import { describe, expect, it } from 'vitest';
import { IntervalHistogram } from './interval-histogram';
import { RequestLog } from './request-log';
import type { EngineRecord, RunRecord } from './run-record';
import { summarise } from './summary';
import { logOf } from '../test/test-log';

const second = 1_000_000;
const OPTIONS = { wallSeconds: 0.5, seed: 1 };

const ENGINE: EngineRecord = {
  engineId: 'prefill-0',
  role: 'prefill',
  gpus: 2,
  numBlocks: 1_000,
  maxNumSeqs: 256,
  maxNumBatchedTokens: 2_048,
  steps: 10,
  busyUs: second,
  prefillBusyUs: second,
  upUs: 4 * second,
  promptTokensComputed: 90,
  promptTokensCached: 10,
  promptTokensTransferred: 0,
  prefixQueriesTokens: 100,
  prefixHitsTokens: 10,
  generatedTokens: 0,
  preemptions: 1,
  finished: 3,
  runningMean: 64,
  kvTransferBytes: 500,
  kvUsageMean: 0.25,
  kvUsageMax: 0.5,
  leaseExpiries: 0,
};

function runOf(log: RequestLog, endUs = 4 * second): RunRecord {
  const empty = new Float32Array(0);
  const itl = new IntervalHistogram();
  if (log.count > 0) itl.add(100_000, 30);
  return {
    log,
    engines: [ENGINE, { ...ENGINE, engineId: 'decode-0', role: 'decode' }],
    itl,
    series: {
      startUs: 0,
      intervalUs: second,
      samples: 0,
      running: empty,
      waiting: empty,
      fetching: empty,
      kvUsage: empty,
      heldBlocks: empty,
    },
    lives: [],
    endUs,
    steps: 20,
    events: 12,
  };
}

const measured = {
  prefillStartUs: 0,
  firstTokenUs: second,
  finishUs: 2 * second,
  tokens: 11,
  promptTokens: 100,
  cachedTokens: 25,
};
const LOG = logOf([
  measured,
  { ...measured, firstTokenUs: 3 * second, finishUs: 4 * second },
  { outcome: 'rejected' },
  { outcome: 'refused' },
  { outcome: 'failed', prefillStartUs: 0, promptTokens: 200 },
  { outcome: 'unfinished' },
]);

describe('a summary', () => {
  it('counts every request once, by its outcome', () => {
    const summary = summarise(runOf(LOG), OPTIONS);
    expect(summary).toMatchObject({
      requests: 6,
      completed: 2,
      rejected: 1,
      refused: 1,
      failed: 1,
      unfinished: 1,
    });
  });

  it('has the latencies of completed requests, in vLLM’s definitions', () => {
    const summary = summarise(runOf(LOG), OPTIONS);
    expect(summary.ttft_ms).toMatchObject({ mean: 2_000, p50: 2_000, max: 3_000 });
    expect(summary.tpot_ms).toMatchObject({ mean: 100, max: 100 });
    expect(summary.e2el_ms).toMatchObject({ mean: 3_000, max: 4_000 });
    expect(summary.itl_ms).toMatchObject({ mean: 100, p50: 100 });
  });

  it('leaves requests with one token out of TPOT', () => {
    const single = { ...measured, finishUs: second, tokens: 1 };
    expect(summarise(runOf(logOf([single, measured])), OPTIONS).tpot_ms.mean).toBe(100);
  });

  it('counts requests that meet every objective as good, per second and per GPU', () => {
    const summary = summarise(runOf(LOG), { ...OPTIONS, slo: { ttft: second, tpot: 100_000 } });
    expect(summary).toMatchObject({
      slo: 'ttft=1s,tpot=100ms',
      slo_attainment: 0.166667,
      slo_attainment_by_objective: { ttft: 0.166667, tpot: 0.333333 },
      goodput_rps: 0.25,
      goodput_rps_per_gpu: 0.0625,
      gpus: 4,
    });
    const shared = summarise(runOf(LOG), { ...OPTIONS, slo: { ttft: second }, gpus: 1 });
    expect(shared.goodput_rps_per_gpu).toBe(0.25);
  });

  it('has no goodput without an SLO', () => {
    const { slo, slo_attainment, goodput_rps, goodput_rps_per_gpu } = summarise(
      runOf(LOG),
      OPTIONS,
    );
    expect([slo, slo_attainment, goodput_rps, goodput_rps_per_gpu]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it('adds up tokens, bytes and engines', () => {
    expect(summarise(runOf(LOG), OPTIONS)).toMatchObject({
      request_rps: 0.5,
      output_tokens_per_second: 5.5,
      total_tokens_per_second: 55.5,
      prefix_hit_rate: 0.125,
      kv_transfer_bytes: 1_000,
      preemptions: 2,
      requests_per_wall_second: 12,
      engines: [
        { engine: 'prefill-0', utilisation: 0.25, prefix_hit_rate: 0.1 },
        { engine: 'decode-0', role: 'decode' },
      ],
    });
  });

  it('of an empty run has null for figures without data, and is JSON without NaN', () => {
    const summary = summarise(runOf(new RequestLog(0), 0), { ...OPTIONS, slo: { ttft: second } });
    expect(summary).toMatchObject({
      requests: 0,
      simulated_seconds: 0,
      ttft_ms: { mean: null, max: null },
      itl_ms: { p99: null },
      slo_attainment: null,
      goodput_rps: null,
      request_rps: null,
      prefix_hit_rate: null,
      phase_means_ms: { queue: null },
    });
    expect(JSON.parse(JSON.stringify(summary))).toEqual(summary);
  });

  it('has the figures of the wall clock at its end, and nowhere else', () => {
    const names = (wallSeconds: number): string[] =>
      Object.entries(summarise(runOf(LOG), { ...OPTIONS, wallSeconds })).map((entry) =>
        JSON.stringify(entry),
      );
    const [fast, slow] = [names(0.5), names(2)];
    expect(fast.slice(0, -2)).toEqual(slow.slice(0, -2));
    expect(fast.at(-2)).not.toEqual(slow.at(-2));
  });
});
