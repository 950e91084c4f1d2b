import { describe, expect, it } from 'vitest';
import { engineOfRanks } from '../sample';
import { EngineCapacity } from './capacity';

const RANK = {
  stepTime: {
    description: 'readable',
    stepUs: (b: { prefillTokens: number; decodeSeqs: number; decodeContext: number }) =>
      1_000 + 10 * b.prefillTokens + 20 * b.decodeSeqs + b.decodeContext,
  },
  maxNumBatchedTokens: 512,
  maxNumSeqs: 32,
  kvTokens: 10_000,
};

describe('an engine of several data-parallel ranks', () => {
  const [one, four] = [new EngineCapacity(RANK), new EngineCapacity({ ...RANK, ranks: 4 })];

  it('has the memory, the batches and the rates of all of them', () => {
    expect([four.kvTokens, four.maxNumSeqs, four.maxNumBatchedTokens]).toEqual(
      [one.kvTokens, one.maxNumSeqs, one.maxNumBatchedTokens].map((each) => 4 * each),
    );
    for (const tokens of [100, 5_000]) {
      expect(four.promptTokensPerSecond(tokens)).toBeCloseTo(4 * one.promptTokensPerSecond(tokens));
    }
    expect(four.sequencesWithin(0.005, 100)).toBe(4 * one.sequencesWithin(0.005, 100));
    expect(four.outputTokensPerSecond(0.005, 100)).toBeCloseTo(
      4 * one.outputTokensPerSecond(0.005, 100),
    );
  });

  it('takes as long as one rank for a prompt, and for its share of a batch', () => {
    expect(four.ttftSeconds(3_000)).toBe(one.ttftSeconds(3_000));
    expect(four.itlSeconds(40, 100)).toBe(one.itlSeconds(10, 100));
  });

  it('is ready when all ranks are, with their sum of sequences and their mean KV usage', () => {
    const ready = { state: 'ready', running: 2, waiting: 1, kvUsage: 0.5 } as const;
    const starting = { state: 'starting', running: 0, waiting: 0, kvUsage: 0 } as const;
    expect(engineOfRanks([ready, ready])).toEqual({ ...ready, running: 4, waiting: 2 });
    const joining = { state: 'starting', running: 2, waiting: 1, kvUsage: 0.25 };
    expect(engineOfRanks([ready, starting])).toEqual(joining);
    expect(engineOfRanks([starting, { ...ready, state: 'draining' }]).state).toBe('draining');
  });
});
