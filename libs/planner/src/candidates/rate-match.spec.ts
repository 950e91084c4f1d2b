import type { EngineOptions } from '@baton/engine';
import { describe, expect, it } from 'vitest';
import { decodeRate, matchRates, prefillRate } from './rate-match';

/** A token of prompt takes 10 µs, a decode step 1000 and 100 for each sequence. */
const ENGINE: EngineOptions = {
  maxNumSeqs: 100,
  maxNumBatchedTokens: 8_192,
  blockSize: 16,
  numBlocks: 100_000,
  maxModelLen: 10_000,
  longPrefillTokenThreshold: 0,
  seed: 0,
  schedulingPolicy: 'fcfs',
  enablePrefixCaching: true,
  enableChunkedPrefill: true,
  warmupPenaltyPercent: 0,
  warmupSteps: 0,
  stepTime: {
    description: 'a line',
    stepUs: (b) => 10 * b.prefillTokens + (b.decodeSeqs > 0 ? 1_000 + 100 * b.decodeSeqs : 0),
  },
};
const DEMAND = { promptTokens: 1_000, cachedTokens: 0, outputTokens: 100 };

describe('rate matching', () => {
  it('takes a prompt for the time of its tokens, cached ones left out', () => {
    expect(prefillRate(ENGINE, DEMAND)).toBeCloseTo(100);
    expect(prefillRate(ENGINE, { ...DEMAND, cachedTokens: 500 })).toBeCloseTo(200);
  });

  it('decodes the largest batch that keeps the SLO', () => {
    // 100 sequences: 11 ms a step, 1.1 s a request. Under 6 ms: 50.
    expect(decodeRate(ENGINE, DEMAND, Infinity)).toBeCloseTo(100 / 1.1);
    expect(decodeRate(ENGINE, DEMAND, 6_000)).toBeCloseTo(50 / 0.6);
    expect(decodeRate(ENGINE, DEMAND, 1_050)).toBe(0);
  });

  it('decodes no more than its KV holds', () => {
    expect(decodeRate({ ...ENGINE, numBlocks: 656 }, DEMAND, Infinity)).toBeCloseTo(9 / 0.19);
  });

  it('lets the slower pool decide', () => {
    const rate = (prefill: number, decode: number): number => {
      const topology = { prefill, decode, aggregated: 0 };
      const candidate = { topology, prefillTp: 1, decodeTp: 1, gpus: 4, settings: {} };
      return matchRates(candidate, () => ENGINE, { demand: DEMAND, tpotUs: Infinity });
    };
    expect(rate(1, 3)).toBeCloseTo(90);
    expect(rate(3, 1)).toBeCloseTo((100 / 1.1) * 0.92);
  });

  it('has aggregated engines share their time between both', () => {
    const topology = { prefill: 0, decode: 0, aggregated: 2 };
    const candidate = { topology, prefillTp: 1, decodeTp: 1, gpus: 2, settings: {} };
    // 10 ms of prompt and 11 of decode.
    const rate = matchRates(candidate, () => ENGINE, { demand: DEMAND, tpotUs: Infinity });
    expect(rate).toBeCloseTo(2 / 0.021);
  });
});
