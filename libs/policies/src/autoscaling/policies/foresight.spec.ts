import { secondsToUs } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { EngineCapacity } from './capacity';
import { foresight } from './foresight';

/** 0.1 ms a prompt token, 1 ms a decoding sequence: 49 of them keep 50 ms. */
const STEP_TIME = {
  description: 'readable',
  stepUs: ({ prefillTokens, decodeSeqs }: { prefillTokens: number; decodeSeqs: number }) =>
    1_000 + 100 * prefillTokens + 1_000 * decodeSeqs,
};
const ONE = new EngineCapacity({
  stepTime: STEP_TIME,
  maxNumBatchedTokens: 1_000,
  maxNumSeqs: 256,
  kvTokens: 1_000_000,
});

/** `[second, requests at that instant, prompt tokens, output tokens]`. */
function needs(bursts: readonly (readonly [number, number, number, number])[], late = 0) {
  const rows = bursts.flatMap((burst) => Array.from({ length: burst[1] }, () => burst));
  const trace = {
    arrivalUs: rows.map(([second]) => secondsToUs(second)),
    promptTokens: rows.map(([, , prompt]) => prompt),
    outputTokens: rows.map(([, , , output]) => output),
  };
  return foresight(trace, {
    windowUs: secondsToUs(10),
    capacities: { prefill: ONE, decode: ONE },
    ttftSeconds: 1,
    itlSeconds: 0.05,
    startupUs: 0,
    late,
    max: { prefill: 8, decode: 8, aggregated: 0 },
  });
}

describe('the engines that a trace needs', () => {
  it('include enough prefill engines for a burst within a window', () => {
    // 20 prompts of 0.1 s each. One engine completes 8 within 0.9 of the objective.
    const windows = needs([
      [0, 1, 1_000, 1],
      [15, 20, 1_000, 1],
      [25, 1, 1_000, 1],
    ]);
    expect([0, 1, 2].map((window) => windows.ofWindow(window).prefill)).toEqual([1, 3, 1]);
  });

  it('count a prompt that no engine can serve in time as work only', () => {
    expect(needs([[0, 1, 20_000, 1]]).ofWindow(0).prefill).toBe(1);
  });

  it('allow a share of the prompts to be late', () => {
    const burst = [0, 9, 1_000, 1] as const;
    expect(needs([burst]).ofWindow(0).prefill).toBe(2);
    expect(needs([burst], 0.2).ofWindow(0).prefill).toBe(1);
  });

  it('include decode engines for all sequences under way, even if they began earlier', () => {
    // 98 sequences of 400 tokens at 50 ms: two engines for 20 s.
    const windows = needs([
      [5, 98, 10, 400],
      [35, 1, 10, 1],
    ]);
    expect([0, 1, 2, 3].map((window) => windows.ofWindow(window).decode)).toEqual([2, 2, 2, 1]);
  });
});
