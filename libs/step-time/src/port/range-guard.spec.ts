import { HardwareError } from '@baton/hardware';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forEstimates, RangeGuard } from './range-guard';
import type { StepTimeModel } from './step-time-model';
import { EMPTY } from '../../test/test-batches';
import { contextLimitOf, describeOutside, outsideOf, type ValidRange } from './valid-range';

const VALID: ValidRange = {
  stepTokens: [1, 4096],
  prefillTokens: [16, 2048],
  prefillQuadraticMax: 9e6,
  decodeSeqs: [1, 64],
  decodeContextMax: 100_000,
  meanContextMax: 8000,
};
const decode = (decodeSeqs: number, decodeContext: number) => ({
  ...EMPTY,
  decodeSeqs,
  decodeContext,
});
const prompt = (prefillTokens: number, prefillQuadratic = prefillTokens ** 2) => ({
  ...EMPTY,
  prefillSeqs: 1,
  prefillTokens,
  prefillQuadratic,
});

const MODEL: StepTimeModel = {
  description: 'a line',
  stepUs: (batch) => 100 + batch.prefillTokens + 0.5 * batch.decodeContext,
  decodeLaw: () => ({ baseUs: 100, perContextUs: 0.5, contextLimit: Infinity }),
  tokenJitterUs: () => 3,
  outsideRange: (batch) => outsideOf(VALID, batch),
  contextLimit: (decodeSeqs) => contextLimitOf(VALID, decodeSeqs),
};

function guarded(model: StepTimeModel = MODEL, refuse = false) {
  const told: string[] = [];
  return {
    told,
    guard: new RangeGuard(model, {
      refuse,
      report: (outside) => told.push(describeOutside(outside)),
    }),
  };
}

describe('outsideOf', () => {
  it.each([
    ['tokens per step', { ...prompt(2048), decodeSeqs: 2049 }, 4097],
    ['prompt tokens per step', prompt(2049), 2049],
    ['attention of prompts in tokens²', prompt(1000, 9_000_001), 9_000_001],
    ['decoding sequences', decode(65, 65), 65],
    ['context tokens of a decode step', decode(64, 100_001), 100_001],
    ['context tokens per decoding sequence', decode(2, 16_002), 8001],
  ])('names %s', (what, batch, value) => {
    expect(outsideOf(VALID, batch)).toMatchObject({ what, value });
  });

  it('accepts fewer tokens than measured, but not fewer sequences', () => {
    expect(outsideOf(VALID, prompt(1))).toBeUndefined();
    const many = { ...VALID, decodeSeqs: [8, 64] as const };
    expect(outsideOf(many, decode(7, 70))).toMatchObject({ value: 7, range: [8, 64] });
  });

  it('counts the borders as inside, and everything when no range is known', () => {
    expect(outsideOf(VALID, prompt(2048, 9e6))).toBeUndefined();
    expect(outsideOf(VALID, decode(64, 100_000))).toBeUndefined();
    expect(outsideOf({}, decode(1e6, 1e12))).toBeUndefined();
  });

  it('reports in one sentence which range was left, and by how much', () => {
    expect(describeOutside(outsideOf(VALID, decode(65, 65))!)).toBe(
      'decoding sequences: 65 is outside 1 to 64, the range for which the step-time model was ' +
        'measured or fitted',
    );
    const none = outsideOf({ prefillTokens: [0, 0] }, prompt(5))!;
    expect(describeOutside(none)).toBe(
      'the step-time model has no measurement of prompt tokens per step',
    );
  });
});

describe('the guard', () => {
  it('changes no result', () => {
    const { guard } = guarded();
    for (const batch of [prompt(500), prompt(5000), decode(8, 800), decode(99, 9e6)]) {
      expect(guard.stepUs(batch)).toBe(MODEL.stepUs(batch));
    }
    expect(guard.tokenJitterUs!(1, 2, 3)).toBe(3);
    expect(guard.description).toBe('a line');
  });

  it('reports the first step outside and counts all of them', () => {
    const { guard, told } = guarded();
    guard.stepUs(prompt(500));
    expect([guard.stepsOutsideRange, told]).toEqual([0, []]);
    guard.stepUs(prompt(3000));
    guard.stepUs(prompt(3001));
    expect(guard.stepsOutsideRange).toBe(2);
    expect(told).toEqual([
      'prompt tokens per step: 3,000 is outside 16 to 2,048, the range for which the step-time ' +
        'model was measured or fitted',
    ]);
  });

  it('counts steps of which nothing was measured apart, and gives them no distance', () => {
    const valid: ValidRange = { prefillTokens: [0, 0], decodeSeqs: [1, 64] };
    const { guard } = guarded({ ...MODEL, outsideRange: (batch) => outsideOf(valid, batch) });
    guard.stepUs(prompt(5));
    expect([guard.stepsOutsideRange, guard.stepsOfUnmeasuredShape]).toEqual([1, 1]);
    expect(guard.farthestOutside).toBe(1);
    guard.stepUs(decode(96, 96));
    expect([guard.stepsOutsideRange, guard.stepsOfUnmeasuredShape]).toEqual([2, 1]);
    expect(guard.farthestOutside).toBe(1.5);
  });

  it('keeps the quantity that lay farthest outside, whichever step came first', () => {
    const { guard } = guarded();
    guard.stepUs(prompt(500));
    expect(guard.farthest).toBeUndefined();
    guard.stepUs(prompt(4096));
    guard.stepUs(decode(65, 65));
    expect(guard.farthest).toEqual({
      what: 'prompt tokens per step',
      value: 4096,
      range: [16, 2048],
    });
    expect(guard.another().farthest).toBeUndefined();
  });

  it('refuses to extrapolate when configured', () => {
    const { guard, told } = guarded(MODEL, true);
    expect(guard.stepUs(decode(8, 800))).toBe(500);
    expect(() => guard.stepUs(decode(65, 65))).toThrow(HardwareError);
    expect(() => guard.stepUs(decode(65, 65))).toThrow(
      'Refused to extrapolate: decoding sequences',
    );
    expect(told).toEqual([]);
  });

  it('ends laws at the end of the range, so that no leap passes the border', () => {
    const { guard } = guarded();
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), fc.nat(120_000), (seqs, context) => {
        const law = guard.decodeLaw(seqs, context);
        const isInside = outsideOf(VALID, decode(seqs, context)) === undefined;
        expect(law !== undefined).toBe(isInside);
        if (law === undefined) return;
        expect(outsideOf(VALID, decode(seqs, law.contextLimit))).toBeUndefined();
        expect(outsideOf(VALID, decode(seqs, law.contextLimit + 1))).toBeDefined();
        expect(law.baseUs + law.perContextUs * context).toBe(guard.stepUs(decode(seqs, context)));
      }),
    );
  });

  it('keeps the narrower limit of a law that ends earlier, and the absence of a law', () => {
    const early = { baseUs: 1, perContextUs: 1, contextLimit: 50 };
    const { guard } = guarded({ ...MODEL, decodeLaw: () => early });
    expect(guard.decodeLaw(8)).toBe(early);
    const { decodeLaw: _, ...lawless } = MODEL;
    expect(guarded(lawless).guard.decodeLaw(8)).toBeUndefined();
  });

  it('has no effect on a model without a range', () => {
    const free: StepTimeModel = {
      description: 'free',
      stepUs: () => 1,
      decodeLaw: MODEL.decodeLaw!.bind(MODEL),
    };
    const { guard } = guarded(free);
    expect(guard.decodeLaw(1e6)!.contextLimit).toBe(Infinity);
    expect(guard.stepUs(decode(1e6, 1e9))).toBe(1);
    expect(guard.stepsOutsideRange).toBe(0);
  });
});

describe('forEstimates', () => {
  it('answers outside of the range without counting, reporting or refusing', () => {
    const { told, guard } = guarded(MODEL, true);
    const batch = decode(2, 16_002);
    expect(forEstimates(guard).stepUs(batch)).toBe(MODEL.stepUs(batch));
    expect(guard.stepsOutsideRange).toBe(0);
    expect(told).toEqual([]);
  });

  it('does not change a model without a guard', () => {
    expect(forEstimates(MODEL)).toBe(MODEL);
  });
});
