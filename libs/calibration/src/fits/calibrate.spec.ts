import { findGpu, findModel, HardwareError } from '@baton/hardware';
import { stepTimeFromProfile, buildStepTimeModel, noiseAt } from '@baton/step-time';
import { readFileSync } from 'node:fs';
import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { calibrate, type CalibrationOptions } from './calibrate';
import { decodeStep, type MeasuredStep, prefillStep } from './measured-step';

const OPTIONS: CalibrationOptions = {
  fit: 'calibrated',
  holdOutEvery: 5,
  seed: 1,
  placement: {},
  overheadMs: 0,
};
const PLACEMENT = { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 };

/**
 * 4 ms + 10 µs per token, + 1 ms + 20 µs per sequence + 40 ns per context token, + 0.4 ns per pair.
 */
const lawOf = (step: MeasuredStep, mixed = 1): number => {
  const tokens = step.prefillTokens + step.decodeSeqs;
  const decode = step.decodeSeqs > 0 ? 1 + 0.02 * step.decodeSeqs + 4e-5 * step.decodeContext : 0;
  const prefill = step.prefillTokens > 0 ? 4e-7 * step.prefillQuadratic : 0;
  const factor = step.prefillTokens > 0 ? mixed : 1;
  return 4 + 0.01 * tokens + factor * decode + prefill;
};
const measured = (step: MeasuredStep, mixed = 1) => ({ ...step, ms: lawOf(step, mixed) });

function pureSteps(): MeasuredStep[] {
  const decodes = [1, 2, 4, 8, 16, 32, 64].flatMap((seqs) =>
    [128, 1000, 4000].map((context) => decodeStep(seqs, seqs * context, 1)),
  );
  const prompts = [16, 64, 256, 1024, 4096].flatMap((tokens) =>
    [0, 2000, 16_000].map((cached) => prefillStep({ tokens, cached, ms: 1 })),
  );
  return [...decodes, ...prompts].map((step) => measured(step));
}

function mixedSteps(factor: number): MeasuredStep[] {
  return [8, 32, 64].flatMap((seqs) =>
    [64, 512, 2048, 4000].map((tokens) => {
      const step = {
        ...prefillStep({ tokens, ms: 1 }),
        decodeSeqs: seqs,
        decodeContext: seqs * 3000,
      };
      return measured(step, factor);
    }),
  );
}

describe('calibrate', () => {
  it('finds the law of the points, and fits held-out points', () => {
    const { fitted, heldOut } = calibrate(pureSteps(), OPTIONS);
    expect(fitted.map(({ phase, points }) => [phase, points])).toEqual([
      ['prefill', expect.any(Number)],
      ['decode', expect.any(Number)],
    ]);
    expect(fitted[0]!.points + fitted[1]!.points).toBe(29);
    expect(heldOut.reduce((sum, { points }) => sum + points, 0)).toBe(7);
    for (const { meanErrorPercent, maxErrorPercent, r2 } of [...fitted, ...heldOut]) {
      expect(meanErrorPercent).toBeLessThan(0.01);
      expect(Math.abs(maxErrorPercent)).toBeLessThan(0.05);
      expect(r2).toBeGreaterThan(0.9999);
    }
  });

  it('writes a profile that gives the same times when it is read again, with its range', () => {
    const { file, valid } = calibrate(pureSteps(), OPTIONS);
    const spec = stepTimeFromProfile(JSON.parse(JSON.stringify(file)));
    const model = buildStepTimeModel(spec, PLACEMENT);
    const step = decodeStep(20, 40_000, 1);
    expect(model.stepUs({ ...step, kvUsage: 0 }) / 1000 / lawOf(step)).toBeCloseTo(1, 3);
    expect(valid).toEqual({
      stepTokens: [1, 4096],
      prefillTokens: [16, 4096],
      prefillQuadraticMax: 20_096 ** 2 - 16_000 ** 2,
      decodeSeqs: [1, 64],
      decodeContextMax: 256_000,
    });
    expect(model.outsideRange!({ ...decodeStep(65, 65, 1), kvUsage: 0 })).toMatchObject({
      what: 'decoding sequences',
      range: [1, 64],
    });
  });

  it('stays close with noisy measurements, and never gets cheaper with more work', () => {
    const noise = RandomStream.root(7).stream('noise');
    const steps = pureSteps().map((step) => ({
      ...step,
      ms: step.ms * (1 + 0.03 * noise.normal()),
    }));
    const { file, heldOut } = calibrate(steps, OPTIONS);
    for (const { meanErrorPercent } of heldOut) expect(meanErrorPercent).toBeLessThan(8);
    const { linear, decode_attention_ms: decode } = file as {
      linear: { ms: number[] };
      decode_attention_ms: number[];
    };
    expect(linear.ms).toEqual([...linear.ms].sort((a, b) => a - b));
    expect(Math.min(...decode)).toBeGreaterThanOrEqual(0);
  });

  it('is robust against a few paused steps', () => {
    const steps = pureSteps().map((step, i) => (i % 9 === 4 ? { ...step, ms: step.ms * 5 } : step));
    const { file } = calibrate(steps, { ...OPTIONS, holdOutEvery: 0 });
    const model = buildStepTimeModel(stepTimeFromProfile(file), PLACEMENT);
    for (const step of pureSteps()) {
      expect(model.stepUs({ ...step, kvUsage: 0 }) / 1000 / lawOf(step)).toBeCloseTo(1, 1);
    }
  });

  it('finds the factor on decode attention in mixed steps', () => {
    const { file } = calibrate([...pureSteps(), ...mixedSteps(1.75)], OPTIONS);
    expect(file['mixed_decode_factor']).toBeCloseTo(1.75, 9);
    expect(calibrate(pureSteps(), OPTIONS).file['mixed_decode_factor']).toBeUndefined();
  });

  it('gives equal profiles for equal points and seeds, another hold-out for another seed', () => {
    const at = (seed: number) => calibrate(pureSteps(), { ...OPTIONS, seed });
    expect(at(1)).toEqual(at(1));
    expect(at(2).heldOut).not.toEqual(at(1).heldOut);
  });

  it('holds out no points when there are few, or when holdOutEvery is 0', () => {
    const few = pureSteps().slice(0, 9);
    expect(calibrate(few, OPTIONS).heldOut).toEqual([]);
    expect(calibrate(pureSteps(), { ...OPTIONS, holdOutEvery: 0 }).heldOut).toEqual([]);
  });

  it('reports an unmeasured phase as outside the range', () => {
    const decodes = pureSteps().filter((step) => step.decodeSeqs > 0);
    const { valid } = calibrate(decodes, OPTIONS);
    expect(valid.prefillTokens).toEqual([0, 0]);
  });

  it.each<[string, MeasuredStep[], string]>([
    ['no points', [], 'there are none'],
    ['one point', [decodeStep(1, 100, 5)], '1 of decode are all of the same batch; at least 3'],
    ['equal points', Array<MeasuredStep>(9).fill(decodeStep(8, 800, 5)), '9 of decode are all of'],
    ['a negative time', [...pureSteps(), decodeStep(1, 10, -3)], 'point 37 takes -3 ms'],
    ['an invalid time', [...pureSteps(), decodeStep(1, 10, NaN)], 'point 37 takes NaN ms'],
    ['two different points', pureSteps().slice(0, 2), '2 of decode are of 2 different batches'],
    ['mixed steps alone', mixedSteps(1), 'add pure prefill or decode steps'],
  ])('refuses %s with one clear sentence', (_, steps, sentence) => {
    expect(() => calibrate(steps, OPTIONS)).toThrow(HardwareError);
    expect(() => calibrate(steps, OPTIONS)).toThrow(sentence);
  });

  it('fits the polynomials of xPyD-sim on request, in its file format', () => {
    const steps = pureSteps().filter((step) => step.prefillContext === 0);
    const { file, fitted, valid } = calibrate(steps, { ...OPTIONS, fit: 'polynomial' });
    expect(file['prefill']).toMatchObject({ type: 'poly1d', x_range: [16, 4096] });
    expect(file['decode']).toMatchObject({ type: 'poly2d', bs_range: [1, 64] });
    for (const { meanErrorPercent } of fitted) expect(meanErrorPercent).toBeLessThan(0.01);
    expect(valid.meanContextMax).toBe(4000);
    const model = buildStepTimeModel(stepTimeFromProfile(file), PLACEMENT);
    const step = prefillStep({ tokens: 700, ms: 1 });
    expect(model.stepUs({ ...step, kvUsage: 0 }) / 1000 / lawOf(step)).toBeCloseTo(1, 3);
  });

  it.each([
    ['prefill', pureSteps().filter((s) => s.prefillTokens === 16), '3 different numbers of tokens'],
    ['decode', pureSteps().slice(0, 8), '9 different batch sizes and contexts'],
  ])('refuses a polynomial with too few points of %s', (_, steps, sentence) => {
    expect(() => calibrate(steps, { ...OPTIONS, fit: 'polynomial' })).toThrow(sentence);
  });
});

describe('the shipped grid', () => {
  const rows = readFileSync(
    new URL('../../../../data/profiles/calibration_grid.csv', import.meta.url),
    'utf8',
  )
    .trim()
    .split('\n')
    .map((line) => line.split(','))
    .filter(([gpu, model, tp]) => `${gpu} ${model} ${tp}` === 'H200-SXM-141GB Llama-3.1-70B 4');
  const steps = rows.map(([, , , phase, size, tokens, cached, ms]) =>
    phase === 'decode'
      ? decodeStep(Number(size), Number(size) * Number(tokens), Number(ms))
      : prefillStep({
          count: Number(size),
          tokens: Number(tokens),
          cached: Number(cached),
          ms: Number(ms),
        }),
  );

  it('is fitted within a few percent, also at held-out points', () => {
    const { fitted, heldOut } = calibrate(steps, OPTIONS);
    for (const { meanErrorPercent } of [...fitted, ...heldOut]) {
      expect(meanErrorPercent).toBeLessThan(6);
    }
  });
});

describe('the scatter in a profile', () => {
  /** A log of steps that lie evenly up to 10 % on both sides of the law. */
  const scattered = (): MeasuredStep[] =>
    Array.from({ length: 12 }).flatMap((_none, i) =>
      pureSteps().map((step) => ({ ...step, ms: step.ms * (i % 2 === 0 ? 0.9 : 1.1) })),
    );

  it('has the range of four of five held-out steps, around 1', () => {
    const { file } = calibrate(scattered(), OPTIONS);
    const { decode, prefill } = file['held_out_factors'] as Record<string, Ends>;
    for (const { points, low, high } of [decode!, prefill!]) {
      expect(points).toBeGreaterThan(20);
      expect(low).toBeCloseTo(0.9, 1);
      expect(high).toBeCloseTo(1.1, 1);
    }
    const { heldOut } = buildStepTimeModel(stepTimeFromProfile(file), PLACEMENT);
    expect(heldOut).toEqual({ decode, prefill });
  });

  it('has no range without held-out steps, and no noise without single steps', () => {
    const { file } = calibrate(scattered(), { ...OPTIONS, holdOutEvery: 0 });
    expect(Object.keys(file)).not.toContain('held_out_factors');
    expect(Object.keys(file)).not.toContain('noise');
  });

  it('has the spread of single steps, whose mean is 1', () => {
    const { file } = calibrate(scattered(), { ...OPTIONS, hasSingleSteps: true });
    const { noise } = buildStepTimeModel(stepTimeFromProfile(file), PLACEMENT);
    for (const quantiles of [noise!.decode!, noise!.prefill!]) {
      expect(quantiles[0]).toBeCloseTo(0.9, 1);
      expect(quantiles.at(-1)).toBeCloseTo(1.1, 1);
      const count = 10_000;
      let sum = 0;
      for (let i = 0; i < count; i++) sum += noiseAt(quantiles, (i + 0.5) / count);
      expect(sum / count).toBeCloseTo(1, 3);
    }
  });
});

interface Ends {
  readonly points: number;
  readonly low: number;
  readonly high: number;
}
