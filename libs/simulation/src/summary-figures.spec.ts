import { parseSlo, summarise, type Summary } from '@baton/analysis';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scenarioWith, workloadOf } from '../test/test-scenario';
import { simulate } from './driver';

const LATENCIES = ['ttft_ms', 'tpot_ms', 'itl_ms', 'e2el_ms'] as const;
const SHARES = ['slo_attainment', 'prefix_hit_rate'] as const;
const ENGINE_SHARES = ['utilisation', 'prefix_hit_rate', 'kv_usage_mean', 'kv_usage_max'] as const;

const request = fc.record({
  atUs: fc.nat(200_000),
  prompt: fc.integer({ min: 1, max: 120 }),
  output: fc.integer({ min: 1, max: 30 }),
  content: fc.array(fc.nat(3), { maxLength: 4 }),
});

/** Percentiles rise, the mean is below the largest, and all are there or none. */
function checkDistribution({ mean, p50, p90, p95, p99, max }: Summary['ttft_ms']): void {
  const figures = [p50, p90, p95, p99, max];
  if (mean === null) return expect(figures).toEqual([null, null, null, null, null]);
  expect(figures).toEqual([...figures].sort((a, b) => a! - b!));
  expect(mean).toBeLessThanOrEqual(max! + 1e-3);
  expect(p50).toBeGreaterThanOrEqual(0);
}

function checkSums(summary: Summary): void {
  const { requests, completed, rejected, failed, refused, unfinished, engines } = summary;
  expect(completed + rejected + failed + refused + unfinished).toBe(requests);
  const seconds = summary.simulated_seconds;
  expect(summary.output_tokens_per_second! * seconds).toBeCloseTo(summary.output_tokens, 1);
  expect(summary.total_tokens_per_second! * seconds).toBeCloseTo(
    summary.prompt_tokens + summary.output_tokens,
    1,
  );
  expect(summary.request_rps! * seconds).toBeCloseTo(completed, 3);
  expect(summary.goodput_rps!).toBeLessThanOrEqual(summary.request_rps! + 1e-6);
  const sumOf = (name: 'preemptions' | 'kv_transfer_bytes'): number =>
    engines.reduce((sum, engine) => sum + engine[name], 0);
  expect(summary.preemptions).toBe(sumOf('preemptions'));
  expect(summary.kv_transfer_bytes).toBe(sumOf('kv_transfer_bytes'));
}

function checkBounds(summary: Summary): void {
  const inBounds = (value: number | null): boolean => value === null || (value >= 0 && value <= 1);
  expect(SHARES.filter((name) => !inBounds(summary[name]))).toEqual([]);
  for (const engine of summary.engines) {
    expect(ENGINE_SHARES.filter((name) => !inBounds(engine[name]))).toEqual([]);
    expect(engine.busy_seconds!).toBeLessThanOrEqual(engine.up_seconds! + 1e-6);
    expect(engine.kv_usage_mean!).toBeLessThanOrEqual(engine.kv_usage_max! + 1e-6);
  }
  if (summary.completed === 0) return;
  expect(summary.ttft_ms.max!).toBeLessThanOrEqual(summary.e2el_ms.max! + 1e-3);
  expect(summary.e2el_ms.max!).toBeLessThanOrEqual(summary.simulated_seconds * 1e3 + 1e-3);
}

describe('the figures of a summary', () => {
  it('have bounds, sums and an order of percentiles', () => {
    const topology = fc.constantFrom('1A', '2P1D', '1P2D1A');
    const requests = fc.array(request, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(topology, requests, (given, all) => {
        const run = simulate(scenarioWith(given, workloadOf(all)));
        const slo = parseSlo('ttft=5ms,tpot=2ms');
        const summary = summarise(run, { wallSeconds: 1, seed: 0, slo });
        for (const name of LATENCIES) checkDistribution(summary[name]);
        checkSums(summary);
        checkBounds(summary);
      }),
      { numRuns: 200 },
    );
  });
});
