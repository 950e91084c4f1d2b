import { describe, expect, it } from 'vitest';
import { type RequestTiming, stepsOfRequests } from './request-steps';

const BUDGET = 8192;
/** The time of a decode step in the requests below, ms. The analysis must find it again. */
const decodeMs = (sequences: number, context: number) => 5 + 0.1 * sequences + 1e-4 * context;
const prefillMs = (tokens: number) => 10 + 0.02 * tokens;

/** A request that runs alone from `startMs`. */
function alone(startMs: number, inputTokens: number, outputTokens: number): RequestTiming {
  const gapsMs = Array.from({ length: outputTokens - 1 }, (_, i) =>
    decodeMs(1, inputTokens + 1 + i),
  );
  return { startMs, ttftMs: prefillMs(inputTokens), gapsMs, inputTokens, outputTokens };
}

/** Requests whose prompts are computed together and which then decode in step. */
function together(
  startMs: number,
  inputs: readonly number[],
  outputTokens: number,
): RequestTiming[] {
  const ttftMs = prefillMs(inputs.reduce((sum, tokens) => sum + tokens, 0));
  const gapsMs = Array.from({ length: outputTokens - 1 }, (_, i) => {
    const context = inputs.reduce((sum, tokens) => sum + tokens + 1 + i, 0);
    return decodeMs(inputs.length, context);
  });
  return inputs.map((inputTokens) => ({ startMs, ttftMs, gapsMs, inputTokens, outputTokens }));
}

const endOf = ({ startMs, ttftMs, gapsMs }: RequestTiming) =>
  startMs + ttftMs + Array.from(gapsMs).reduce((sum, gap) => sum + gap, 0);

describe('steps of requests', () => {
  it('are a prefill and a decode point for each request that runs alone', () => {
    const first = alone(0, 1000, 50);
    const { steps, alone: count } = stepsOfRequests([first, alone(endOf(first), 200, 20)], BUDGET);
    expect(count).toBe(2);
    expect(steps.map((step) => [step.prefillTokens, step.decodeSeqs])).toEqual([
      [1000, 0],
      [200, 0],
      [0, 1],
      [0, 1],
    ]);
    expect(steps[0]!.ms).toBeCloseTo(prefillMs(1000), 9);
    expect(steps[2]!.ms).toBeCloseTo(decodeMs(1, steps[2]!.decodeContext), 2);
  });

  it('are one decode point for each stretch in which a batch stays the same', () => {
    const { steps, alone: count } = stepsOfRequests(together(0, [500, 700, 900], 101), BUDGET);
    expect(count).toBe(0);
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ decodeSeqs: 3, decodeContext: Math.round(2100 + 3 * 50.5) });
    expect(steps[0]!.ms).toBeCloseTo(decodeMs(3, steps[0]!.decodeContext), 2);
  });

  it('leave out gaps during which another prompt was computed', () => {
    const long = alone(0, 1000, 100);
    const stall = { ...long, gapsMs: Array.from(long.gapsMs, (gap, i) => (i === 50 ? 400 : gap)) };
    const during = endOf({ ...stall, gapsMs: stall.gapsMs.slice(0, 50) }) + 1;
    const other = { ...alone(during, 3000, 1), ttftMs: 398, gapsMs: [] };
    const { steps } = stepsOfRequests([stall, other], BUDGET);
    expect(steps.filter((step) => step.decodeSeqs > 0)).toHaveLength(2);
    for (const step of steps.slice(1)) {
      expect(step.ms).toBeCloseTo(decodeMs(1, step.decodeContext), 3);
    }
  });

  it('use the mean gap of a request only when no prompt was computed meanwhile', () => {
    const mean = (timing: RequestTiming): RequestTiming => ({ ...timing, isAveraged: true });
    const quiet = mean(alone(0, 1000, 50));
    const stalled = mean(alone(endOf(quiet) + 5, 1000, 50));
    const intruder = { ...alone(stalled.startMs + stalled.ttftMs + 60, 100, 1), gapsMs: [] };
    const decodes = (requests: readonly RequestTiming[]) =>
      stepsOfRequests(requests, BUDGET).steps.filter((step) => step.decodeSeqs > 0).length;
    expect(decodes([quiet, stalled])).toBe(2);
    expect(decodes([quiet, stalled, intruder])).toBe(1);
  });

  it('leave out prompts that took several steps', () => {
    const first = alone(0, 9000, 5);
    const { steps, tooLong } = stepsOfRequests([first, alone(endOf(first), 100, 5)], BUDGET);
    expect(tooLong).toBe(1);
    expect(steps.filter((step) => step.prefillTokens > 0)).toHaveLength(1);
  });

  it('count pieces of several tokens as one gap each', () => {
    const pieces = { ...alone(0, 100, 41), gapsMs: Array<number>(10).fill(20) };
    const { steps } = stepsOfRequests([pieces], BUDGET);
    expect(steps[1]).toMatchObject({ decodeSeqs: 1, decodeContext: 119, ms: 20 });
  });

  it('give no points of stretches with too few gaps', () => {
    expect(stepsOfRequests([alone(0, 100, 3)], BUDGET).steps).toHaveLength(1);
    expect(stepsOfRequests([], BUDGET).steps).toEqual([]);
  });
});
