import { findGpu, findModel } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { type BatchAggregates, buildStepTimeModel } from '..';

const LLAMA = { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 };
const LATENT = { model: findModel('deepseek-v3'), gpu: findGpu('h200'), tp: 1 };

function decode(decodeSeqs: number, draftsPerSeq: number, context = 1_000): BatchAggregates {
  return {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs,
    decodeContext: decodeSeqs * context,
    draftTokens: decodeSeqs * draftsPerSeq,
    kvUsage: 0.1,
  };
}

describe('drafted tokens', () => {
  it('count in the linear part of a calibrated step, and not as sequences', () => {
    const model = buildStepTimeModel({ kind: 'calibrated', mixedDecodeFactor: 2 }, LLAMA);
    const linear = (tokens: number) =>
      model.stepUs({ ...decode(0, 0), prefillSeqs: 1, prefillTokens: tokens }) -
      model.stepUs({ ...decode(0, 0), prefillSeqs: 1, prefillTokens: 1 });
    const added = model.stepUs(decode(64, 3)) - model.stepUs(decode(64, 0));
    expect(added).toBeCloseTo(linear(256) - linear(64), 6);
  });

  it('cost next to nothing while a step waits for its weights, and much when it computes', () => {
    const model = buildStepTimeModel({ kind: 'roofline' }, LLAMA);
    const growth = (seqs: number) => model.stepUs(decode(seqs, 7)) / model.stepUs(decode(seqs, 0));
    expect(growth(1)).toBeLessThan(1.01);
    expect(growth(256)).toBeGreaterThan(1.5);
  });

  it('read the KV once: attention grows only where computing it takes longer than reading', () => {
    const ofContext = (placement: typeof LLAMA, drafts: number) => {
      const model = buildStepTimeModel({ kind: 'roofline' }, placement);
      const short = model.stepUs(decode(4, drafts, 1_000));
      return model.stepUs(decode(4, drafts, 100_000)) - short;
    };
    expect(ofContext(LLAMA, 3) / ofContext(LLAMA, 0)).toBeCloseTo(1, 9);
    expect(ofContext(LATENT, 3) / ofContext(LATENT, 0)).toBeGreaterThan(1.5);
  });

  it('have no effect when there are none', () => {
    for (const kind of ['calibrated', 'roofline'] as const) {
      const model = buildStepTimeModel({ kind }, LLAMA);
      const { draftTokens: _none, ...without } = decode(32, 0);
      expect(model.stepUs(decode(32, 0))).toBe(model.stepUs(without));
      const mixed = { ...without, prefillTokens: 512, prefillSeqs: 1, prefillQuadratic: 512 ** 2 };
      expect(model.stepUs({ ...mixed, draftTokens: 0 })).toBe(model.stepUs(mixed));
    }
  });
});
