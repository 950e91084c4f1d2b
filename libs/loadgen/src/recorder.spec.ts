import { type BenchmarkFigures, benchmarkFigures, outcomeCode } from '@baton/analysis';
import { WorkloadBuilder } from '@baton/workload';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReceivedAnswer } from './protocol/answer';
import { Recorder } from './recorder';

const OPTIONS = {
  metrics: ['ttft', 'tpot', 'itl', 'e2el'],
  percentiles: [50, 90, 99, 100],
  slo: undefined,
} as const;
const LATENESS = {} as Parameters<Recorder['take']>[1];

interface Request {
  readonly sentMs: number;
  readonly firstMs: number;
  readonly gapsMs: readonly number[];
  readonly tokensPerEvent: number;
}

function figuresOf(requests: readonly Request[], afterMs: number): BenchmarkFigures {
  const builder = new WorkloadBuilder();
  for (const { gapsMs, tokensPerEvent } of requests) {
    const outputTokens = (gapsMs.length + 1) * tokensPerEvent;
    builder.add({ arrivalUs: 0, promptTokens: 7, outputTokens });
  }
  const recorder = new Recorder(builder.build(), 0, false);
  let endMs = 0;
  for (const [row, { sentMs, firstMs, gapsMs, tokensPerEvent }] of requests.entries()) {
    recorder.sent(row, sentMs);
    const lastMs = gapsMs.reduce((sum, gap) => sum + gap, sentMs + firstMs);
    endMs = Math.max(endMs, lastMs);
    const answer = {
      events: gapsMs.length + 1,
      outputTokens: (gapsMs.length + 1) * tokensPerEvent,
      firstMs: sentMs + firstMs,
      lastMs,
      gapsUs: gapsMs.map((gap) => gap * 1_000),
      text: '',
    } as Partial<ReceivedAnswer> as ReceivedAnswer;
    recorder.endRequest(row, answer, { kind: 'whole' });
  }
  const record = recorder.take(endMs + afterMs, LATENESS);
  expect(record.log.outcome.every((code) => code === outcomeCode('completed'))).toBe(true);
  return benchmarkFigures(record, OPTIONS);
}

describe('the figures of a load run', () => {
  const requests = fc.array(
    fc.record({
      sentMs: fc.nat(3_000),
      firstMs: fc.integer({ min: 1, max: 500 }),
      gapsMs: fc.array(fc.nat(200), { maxLength: 20 }),
      tokensPerEvent: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('have bounds, sums and an order of percentiles', () => {
    fc.assert(
      fc.property(requests, fc.nat(50), (given, afterMs) => {
        const figures = figuresOf(given, afterMs);
        const rounding = 1e-9 * figures.output_throughput;
        expect(figures.max_output_tokens_per_s).toBeGreaterThanOrEqual(
          figures.output_throughput - rounding,
        );
        expect(figures.max_output_tokens_per_s).toBeLessThanOrEqual(
          figures.total_output_tokens / Math.min(1, figures.duration) + rounding,
        );
        expect(figures.completed).toBe(given.length);
        expect(figures.max_concurrent_requests).toBeLessThanOrEqual(given.length);
        expect(figures.total_token_throughput * figures.duration).toBeCloseTo(
          figures.total_input_tokens + figures.total_output_tokens,
          6,
        );
        for (const name of OPTIONS.metrics) {
          const at = OPTIONS.percentiles.map((p) => figures[`p${p}_${name}_ms`]!);
          expect([name, at]).toEqual([name, [...at].sort((a, b) => a - b)]);
          // Percentiles of ITL are at most 0.4 % off.
          expect(figures[`mean_${name}_ms`]).toBeLessThanOrEqual(at.at(-1)! * 1.005);
        }
        expect(figures['p99_ttft_ms']!).toBeLessThanOrEqual(figures['p99_e2el_ms']! + 1e-9);
      }),
    );
  });

  it('have a peak as high as the mean in a run below a second', () => {
    const one = { sentMs: 0, firstMs: 10, gapsMs: Array<number>(7).fill(10), tokensPerEvent: 1 };
    const figures = figuresOf([one, one, one, one, one], 0);
    expect(figures.duration).toBeCloseTo(0.08, 6);
    expect(figures.max_output_tokens_per_s).toBeCloseTo(figures.output_throughput, 6);
  });
});
