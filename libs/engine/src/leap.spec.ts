import type { StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { READABLE, TestEngine } from '../test/test-engine';

/**
 * Fractions of a µs in every step, so that rounding each step by itself would drift away from the
 * sum.
 */
const FRACTIONAL: StepTimeModel = {
  description: 'fractions',
  stepUs: (b) => 100.4 + 0.3 * b.decodeContext + b.prefillTokens,
  decodeLaw: () => ({ baseUs: 100.4, perContextUs: 0.3, contextLimit: Infinity }),
};

function decoding(options: ConstructorParameters<typeof TestEngine>[0], outputTokens: number[]) {
  const test = new TestEngine(options);
  outputTokens.forEach((tokens, i) => test.submit(`s${i}`, { outputTokens: tokens }));
  test.step();
  return test;
}

describe('the steps of an unchanged decode batch', () => {
  it('end at the sum of their times, rounded once', () => {
    const test = decoding({ stepTime: FRACTIONAL }, [40]);
    const startUs = test.nowUs;
    let sumUs = 0;
    for (let j = 0; j < 39; j++) {
      sumUs += 100.4 + 0.3 * (9 + j);
      expect(test.step()?.endUs).toBe(startUs + Math.round(sumUs));
    }
  });

  it('start a new line when a step starts late', () => {
    const test = decoding({ stepTime: FRACTIONAL }, [40]);
    test.step();
    test.nowUs += 500;
    const startUs = test.nowUs;
    expect(test.step()?.endUs).toBe(startUs + Math.round(100.4 + 0.3 * 10));
  });

  it('start a new line when a sequence ends', () => {
    const test = decoding({}, [3, 9]);
    expect(test.step()?.endUs).toBe(1160 + 1000 + 18);
    expect(test.step()).toMatchObject({ endUs: 2178 + 1000 + 20, finished: ['s0'] });
    expect(test.step()?.endUs).toBe(3198 + 1000 + 11);
  });

  it('take at least a microsecond each', () => {
    const law = { baseUs: 0.1, perContextUs: 0, contextLimit: Infinity };
    const instant: StepTimeModel = {
      description: 'instant',
      stepUs: () => 0.1,
      decodeLaw: () => law,
    };
    const test = decoding({ stepTime: instant }, [5]);
    expect(test.runToRest().map((told) => told.endUs)).toEqual([2, 3, 4, 5]);
  });
});

describe('extending a step', () => {
  it('reaches the first end and reports the last step', () => {
    const test = decoding({}, [9, 30]);
    const told = test.step(Infinity);
    expect(told).toMatchObject({ steps: 8, emitted: ['s0', 's1'], finished: ['s0'] });
    expect(told?.endUs).toBe(1160 + 8 * (1000 + 18) + (2 * 8 * 7) / 2);
    expect(test.engine.tokensEmitted(test.handle('s1'))).toBe(9);
    expect(test.engine.counters).toMatchObject({ steps: 9, generatedTokens: 18 });
  });

  it('stops at the first boundary at or after the horizon', () => {
    const ends = decoding({}, [9])
      .runToRest()
      .map((told) => told.endUs);
    for (const [horizonUs, steps] of [
      [ends[2]!, 3],
      [ends[2]! + 1, 4],
      [ends[2]! - 1, 3],
      [0, 1],
    ]) {
      const test = decoding({}, [9]);
      expect(test.step(horizonUs)).toMatchObject({ steps, endUs: ends[steps! - 1] });
    }
  });

  it('gives the end of each of its steps', () => {
    const ends = decoding({}, [9])
      .runToRest()
      .map((told) => told.endUs);
    const test = decoding({}, [9]);
    test.step(Infinity);
    expect(ends.map((_, i) => test.engine.boundaryUs(i + 1))).toEqual(ends);
  });

  it('stops before blocks run out', () => {
    const test = decoding({ numBlocks: 6 }, [16, 13]);
    const told = test.step(Infinity);
    expect(told).toMatchObject({ steps: 4, preempted: [] });
    expect(test.step()).toMatchObject({ preempted: ['s1'] });
  });

  it(
    'does not happen while a prompt is computed, a sequence may be admitted, or warm-up ' + 'lasts',
    () => {
      const mixed = decoding({ maxNumBatchedTokens: 10 }, [20]);
      mixed.submit('long', { promptTokens: 50 });
      expect(mixed.step(Infinity)?.steps).toBe(1);

      const warming = decoding({ warmupSteps: 3, warmupPenaltyPercent: 10 }, [20]);
      expect([1, 2, 3].map(() => warming.step(Infinity)?.steps)).toEqual([1, 1, 17]);

      const preempting = decoding({ numBlocks: 6 }, [16, 13]);
      preempting.step(Infinity);
      expect(preempting.step(Infinity)).toMatchObject({ preempted: ['s1'], steps: 1 });
    },
  );

  it('happens while the head of the queue waits for a slot or for blocks', () => {
    const noSlot = decoding({ maxNumSeqs: 1 }, [9, 9]);
    expect(noSlot.step(Infinity)?.steps).toBe(8);
    const noBlocks = decoding({ numBlocks: 8 }, [9, 1]);
    noBlocks.submit('large', { promptTokens: 28, outputTokens: 1 });
    expect(noBlocks.step(Infinity)).toMatchObject({ steps: 8, scheduled: [] });
  });

  it('stays within the context for which the line is valid, and needs a line', () => {
    const limited = (contextLimit: number): StepTimeModel => ({
      ...READABLE,
      decodeLaw: () => ({ baseUs: 1000, perContextUs: 1, contextLimit }),
    });
    const test = decoding({ stepTime: limited(12) }, [20]);
    expect([1, 2].map(() => test.step(Infinity)?.steps)).toEqual([4, 1]);
    const { decodeLaw: _law, ...lawless } = READABLE;
    expect(decoding({ stepTime: lawless }, [20]).step(Infinity)?.steps).toBe(1);
  });

  it('reports the blocks at any instant of it', () => {
    const single = decoding({}, [16]);
    const leaping = decoding({}, [16]);
    leaping.engine.beginStep(leaping.nowUs);
    leaping.engine.extendStep(Infinity);
    for (let i = 0; i < 15; i++) {
      const endUs = single.engine.beginStep(single.nowUs)!;
      expect(leaping.engine.snapshot(endUs)).toEqual(single.engine.snapshot());
      single.endStep();
    }
  });
});

describe('cutting an extended step', () => {
  it('leaves the single step that was under way', () => {
    const ends = decoding({}, [9])
      .runToRest()
      .map((told) => told.endUs);
    const test = decoding({}, [9]);
    test.engine.beginStep(test.nowUs);
    test.engine.extendStep(Infinity);
    expect(() => test.submit('early')).toThrow(/must be cut/);
    expect(test.engine.cutStep(ends[3]! + 1)).toBe(ends[4]);
    test.submit('late');
    expect(test.endStep()).toMatchObject({ steps: 5, endUs: ends[4], scheduled: [] });
    expect(test.step()).toMatchObject({ scheduled: ['late'] });
  });

  it('does not change a shorter one', () => {
    const test = decoding({}, [9]);
    const endUs = test.engine.beginStep(test.nowUs)!;
    expect(test.engine.cutStep(endUs + 9_000)).toBe(endUs);
  });
});

describe('jitter', () => {
  it('depends only on seed, request and token', () => {
    const jittery: StepTimeModel = {
      ...READABLE,
      tokenJitterUs: (seed, hash, index) => (seed * 7 + (hash % 97) + index) % 50,
    };
    const offsets = (companions: number): number[] => {
      const test = new TestEngine({ stepTime: jittery, seed: 3 });
      for (let i = 0; i < companions; i++) test.submit(`c${i}`);
      const handle = test.submit('a');
      return [0, 1, 2, 3].map(() => (test.step(), test.engine.tokenOffsetUs(handle)));
    };
    expect(offsets(0)).toEqual(offsets(3));
    expect(new Set(offsets(0)).size).toBe(4);
    const calm = decoding({}, [3]);
    expect(calm.engine.tokenOffsetUs(calm.handle('s0'))).toBe(0);
  });
});
