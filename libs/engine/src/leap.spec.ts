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

describe('steps that follow each other by themselves', () => {
  it('go on to the first end, and their facts are those of the last step', () => {
    const test = decoding({}, [9, 30]);
    const told = test.step(Infinity);
    expect(told).toMatchObject({ steps: 8, emitted: ['s0', 's1'], finished: ['s0'] });
    expect(told?.endUs).toBe(1160 + 8 * (1000 + 18) + (2 * 8 * 7) / 2);
    expect(test.engine.tokensEmitted(test.handle('s1'))).toBe(9);
    expect(test.engine.counters).toMatchObject({ steps: 9, generatedTokens: 18 });
  });

  it('go on to the first boundary at or after the horizon', () => {
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

  it('have their lengths in the facts', () => {
    const ends = decoding({}, [9])
      .runToRest()
      .map((told) => told.endUs);
    const { engine, nowUs } = decoding({}, [9]);
    engine.beginStep(nowUs);
    engine.advanceTo(engine.nextUs(Infinity));
    const [first, second] = ends as [number, number];
    expect(engine.endStep()).toMatchObject({
      startUs: nowUs,
      firstEndUs: first,
      endUs: ends[7],
      later: { steps: 7, firstUs: second - first, spanUs: ends[7]! - first },
    });
  });

  it('stop before blocks run out', () => {
    const test = decoding({ numBlocks: 6 }, [16, 13]);
    const told = test.step(Infinity);
    expect(told).toMatchObject({ steps: 4, preempted: [] });
    expect(test.step()).toMatchObject({ preempted: ['s1'] });
  });

  it('are none while a prompt is computed, a sequence may be admitted, or warm-up lasts', () => {
    const mixed = decoding({ maxNumBatchedTokens: 10 }, [20]);
    mixed.submit('long', { promptTokens: 50 });
    expect(mixed.step(Infinity)?.steps).toBe(1);

    const warming = decoding({ warmupSteps: 3, warmupPenaltyPercent: 10 }, [20]);
    expect([1, 2, 3].map(() => warming.step(Infinity)?.steps)).toEqual([1, 1, 17]);

    const preempting = decoding({ numBlocks: 6 }, [16, 13]);
    preempting.step(Infinity);
    expect(preempting.step(Infinity)).toMatchObject({ preempted: ['s1'], steps: 1 });
  });

  it('go on while the head of the queue waits for a slot or for blocks', () => {
    const noSlot = decoding({ maxNumSeqs: 1 }, [9, 9]);
    expect(noSlot.step(Infinity)?.steps).toBe(8);
    const noBlocks = decoding({ numBlocks: 8 }, [9, 1]);
    noBlocks.submit('large', { promptTokens: 28, outputTokens: 1 });
    expect(noBlocks.step(Infinity)).toMatchObject({ steps: 8, scheduled: [] });
  });

  it('stay within the context for which the line is valid, and need a line', () => {
    const limited = (contextLimit: number): StepTimeModel => ({
      ...READABLE,
      decodeLaw: () => ({ baseUs: 1000, perContextUs: 1, contextLimit }),
    });
    const test = decoding({ stepTime: limited(12) }, [20]);
    expect([1, 2].map(() => test.step(Infinity)?.steps)).toEqual([4, 1]);
    const { decodeLaw: _law, ...lawless } = READABLE;
    expect(decoding({ stepTime: lawless }, [20]).step(Infinity)?.steps).toBe(1);
  });

  it('leave the state of single steps at any instant, and the last instant named does not change', () => {
    const single = decoding({}, [16]);
    const leaping = decoding({}, [16]);
    leaping.engine.beginStep(leaping.nowUs);
    const dueUs = leaping.engine.nextUs(Infinity);
    for (let i = 0; i < 15; i++) {
      const endUs = single.engine.beginStep(single.nowUs)!;
      leaping.engine.advanceTo(endUs);
      expect(leaping.engine.snapshot()).toEqual(single.engine.snapshot());
      expect(leaping.engine.counters).toEqual(single.engine.counters);
      expect(leaping.engine.nextUs(Infinity)).toBe(dueUs);
      single.endStep();
    }
    expect(leaping.endStep()).toMatchObject({ steps: 15, endUs: dueUs, finished: ['s0'] });
  });

  it('end with the step under way when something has changed', () => {
    const ends = decoding({}, [9])
      .runToRest()
      .map((told) => told.endUs);
    const test = decoding({}, [9]);
    test.engine.beginStep(test.nowUs);
    test.engine.advanceTo(ends[3]! + 1);
    test.submit('late');
    expect(test.engine.nextUs(Infinity)).toBe(ends[4]);
    expect(test.endStep()).toMatchObject({ steps: 5, endUs: ends[4], scheduled: [] });
    expect(test.step()).toMatchObject({ scheduled: ['late'] });
  });

  it('end with the step under way when one of their sequences is aborted', () => {
    const test = decoding({}, [9, 9]);
    const endUs = test.engine.beginStep(test.nowUs)!;
    test.engine.abort(test.handle('s1'));
    test.engine.advanceTo(endUs + 5_000);
    expect(test.endStep()).toMatchObject({ steps: 1, endUs, emitted: ['s0'] });
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
