import type { Micros } from '@baton/kernel';
import { Lockstep, type LockstepRank } from './lockstep/lockstep';
import type { StepTimeModel } from '@baton/step-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

/** 100 µs, 10 per decoding sequence, 1 per token of prompt or context, 7 per token of experts. */
const MODEL: StepTimeModel = {
  description: 'told apart',
  stepUs: (b) => {
    const tokens = b.prefillTokens + b.decodeSeqs;
    const { expertTokens = tokens } = b;
    return 100 + 10 * b.decodeSeqs + b.prefillTokens + b.decodeContext + 7 * expertTokens;
  },
};
/** A dummy step: one sequence with one token of context. */
const DUMMY_US = 100 + 10 + 1 + 7;

/** A rank with given batches; they take `us` plus the time that other ranks add. */
class GivenRank implements LockstepRank {
  readonly ends: Micros[] = [];
  readonly shares: { paddingTokens: number; expertTokens: number }[] = [];
  tokens: number | undefined;
  us = 0;
  isLeft = false;
  private startUs: Micros = 0;

  formStep(startUs: Micros): number | undefined {
    this.startUs = startUs;
    return this.tokens;
  }

  stepEndBeside(share: { paddingTokens: number; expertTokens: number }): Micros {
    this.shares.push({ ...share });
    return this.startUs + this.us;
  }

  endStepAt(endUs: Micros): void {
    this.ends.push(endUs);
  }

  isUnfinished(): boolean {
    return this.isLeft;
  }
}

function givenRanks(
  count: number,
  { size = count, ...options }: { size?: number; maxCudagraphCaptureSize?: number } = {},
): { lockstep: Lockstep; ranks: GivenRank[] } {
  const lockstep = new Lockstep(size, { stepTime: MODEL, ...options });
  const ranks = Array.from({ length: count }, () => new GivenRank());
  for (const rank of ranks) lockstep.add(rank);
  return { lockstep, ranks };
}

describe('a step of ranks in lockstep', () => {
  it('ends for all participants when the slowest is done', () => {
    const { lockstep, ranks } = givenRanks(3);
    Object.assign(ranks[0]!, { tokens: 4, us: 300 });
    Object.assign(ranks[2]!, { tokens: 9, us: 800 });
    expect(lockstep.begin(1_000)).toBe(1_800);
    expect(ranks.map(({ ends }) => ends)).toEqual([[1_800], [], [1_800]]);
  });

  it('pads small batches to the largest, and experts compute the padding', () => {
    const { lockstep, ranks } = givenRanks(2);
    ranks[0]!.tokens = 12;
    ranks[1]!.tokens = 512;
    lockstep.begin(0);
    expect(ranks[0]!.shares).toEqual([{ paddingTokens: 500, expertTokens: 512 }]);
    expect(ranks[1]!.shares).toEqual([{ paddingTokens: 0, expertTokens: 512 }]);
  });

  it('pads up to the largest captured batch, and nothing without CUDA graphs', () => {
    const paddingWith = (maxCudagraphCaptureSize: number, largest: number) => {
      const { lockstep, ranks } = givenRanks(2, { maxCudagraphCaptureSize });
      ranks[0]!.tokens = 12;
      ranks[1]!.tokens = largest;
      lockstep.begin(0);
      return ranks[0]!.shares[0];
    };
    expect(paddingWith(1_024, 1_024)).toEqual({ paddingTokens: 1_012, expertTokens: 1_024 });
    expect(paddingWith(64, 64)).toEqual({ paddingTokens: 52, expertTokens: 64 });
    expect(paddingWith(64, 66)).toEqual({ paddingTokens: 0, expertTokens: 39 });
    expect(paddingWith(0, 14)).toEqual({ paddingTokens: 0, expertTokens: 13 });
  });

  it('pads nothing beside a larger batch, and experts get the mean including dummy tokens', () => {
    const { lockstep, ranks } = givenRanks(3, { size: 4 });
    ranks[0]!.tokens = 12;
    ranks[1]!.tokens = 1_986;
    lockstep.begin(0);
    const share = { paddingTokens: 0, expertTokens: (12 + 1_986 + 1 + 1) / 4 };
    expect(ranks.map(({ shares }) => shares)).toEqual([[share], [share], []]);
  });
});

describe('ranks that have nothing to run', () => {
  function rested(steps: number): { lockstep: Lockstep; ranks: GivenRank[] } {
    const made = givenRanks(2);
    made.ranks[0]!.tokens = 1;
    made.ranks[0]!.us = 1_000;
    for (let i = 0; i < steps; i++) made.lockstep.begin(i * 1_000);
    made.ranks[0]!.tokens = undefined;
    expect(made.lockstep.begin(steps * 1_000)).toBeUndefined();
    return made;
  }

  it('continue with dummy steps up to the 32nd step, at whose ends new steps begin', () => {
    const { lockstep } = rested(30);
    const [first, second] = [30_000 + DUMMY_US, 30_000 + 2 * DUMMY_US];
    expect(lockstep.boundaryAfter(30_000)).toBe(30_000);
    expect(lockstep.boundaryAfter(30_001)).toBe(first);
    expect(lockstep.boundaryAfter(first)).toBe(first);
    expect(lockstep.boundaryAfter(first + 1)).toBe(second);
    expect(lockstep.boundaryAfter(second + 1)).toBe(second + 1);
  });

  it('stop at once when they agree at that very step', () => {
    expect(rested(32).lockstep.boundaryAfter(32_001)).toBe(32_001);
  });

  it('count from 0 again after they have stopped', () => {
    const { lockstep, ranks } = rested(30);
    ranks[1]!.tokens = 1;
    ranks[1]!.us = 1_000;
    expect(lockstep.begin(90_000)).toBe(91_000);
    ranks[1]!.tokens = undefined;
    lockstep.begin(91_000);
    const last = 91_000 + 31 * DUMMY_US;
    expect(lockstep.boundaryAfter(last - 1)).toBe(last);
    expect(lockstep.boundaryAfter(last + 1)).toBe(last + 1);
  });

  it('count dummy steps that were cut short by a request', () => {
    const { lockstep, ranks } = rested(20);
    ranks[0]!.tokens = 1;
    const startUs = lockstep.boundaryAfter(20_000 + 9 * DUMMY_US + 5);
    expect(startUs).toBe(20_000 + 10 * DUMMY_US);
    lockstep.begin(startUs);
    ranks[0]!.tokens = undefined;
    lockstep.begin(startUs + 1_000);
    const last = startUs + 1_000 + DUMMY_US;
    expect(lockstep.boundaryAfter(last + 1)).toBe(last + 1);
    expect(lockstep.boundaryAfter(last - 1)).toBe(last);
  });

  it('continue with dummy steps as long as a request waits for its KV', () => {
    const { lockstep, ranks } = givenRanks(2);
    ranks[1]!.isLeft = true;
    lockstep.begin(0);
    expect(lockstep.boundaryAfter(1_000 * DUMMY_US - 1)).toBe(1_000 * DUMMY_US);
  });
});

describe('engines in lockstep', () => {
  it('get their first tokens together although one has less to compute', () => {
    const lockstep = new Lockstep(2, { stepTime: MODEL });
    const tests = [8, 40].map((promptTokens, i) => {
      const test = new TestEngine({ stepTime: MODEL });
      test.submit(`s${i}`, { promptTokens, outputTokens: 1 });
      lockstep.add(test.engine);
      return test;
    });
    // Each missing token counts as a decoding sequence; experts get 40 tokens from each rank.
    const padded = 100 + 8 + 10 * 32 + 7 * 40;
    expect(lockstep.begin(500)).toBe(500 + padded);
    expect(tests.map((test) => test.endStep())).toMatchObject([
      { endUs: 500 + padded, finished: ['s0'] },
      { endUs: 500 + padded, finished: ['s1'] },
    ]);
  });

  it('take the time of a single engine when the others have no work', () => {
    const request = fc.record({
      promptTokens: fc.integer({ min: 1, max: 200 }),
      outputTokens: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 12 }), (requests) => {
        const [alone, beside] = [0, 1].map(() => {
          const test = new TestEngine({ stepTime: MODEL });
          requests.forEach((spec, i) => test.submit(`s${i}`, spec));
          return test;
        });
        const lockstep = new Lockstep(8, { stepTime: MODEL });
        lockstep.add(beside!.engine);
        const ends: Micros[] = [];
        for (let endUs = lockstep.begin(0); endUs !== undefined; endUs = lockstep.begin(endUs)) {
          ends.push(endUs);
          beside!.endStep();
        }
        expect(ends).toEqual(alone!.runToRest().map(({ endUs }) => endUs));
      }),
    );
  });
});
