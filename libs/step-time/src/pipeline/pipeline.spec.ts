import { type EnginePlacement, findGpu, findLink, findModel } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { SHIPPED_OPERATORS } from '../../../../test/support/shipped-operators';
import { decoding, EMPTY, prompts } from '../../test/test-batches';
import { buildStepTimeModel, type StepTimeSpec } from '../build-step-time-model';
import { RangeGuard } from '../port/range-guard';
import type { BatchAggregates, StepTimeModel } from '../port/step-time-model';
import { hopFrom } from './hop';

const place = (model: string, tp: number, pp: number): EnginePlacement => ({
  model: findModel(model),
  gpu: findGpu('h100'),
  tp,
  pp,
});
const build = (kind: 'auto' | 'composed' | 'roofline', placement: EnginePlacement) =>
  buildStepTimeModel({ kind, overheadMs: 0 }, placement, SHIPPED_OPERATORS);

const BATCHES: BatchAggregates[] = [
  { ...EMPTY, ...decoding(1, 500) },
  { ...EMPTY, ...decoding(64, 1000) },
  { ...EMPTY, ...prompts(2, 2000) },
];

function timesOf({ pipeline }: StepTimeModel, batch: BatchAggregates): number[] {
  const us = new Float64Array(2 * pipeline!.stages - 1);
  pipeline!.fill(batch, us);
  return [...us];
}

describe.each(['composed', 'roofline'] as const)('%s step times of a pipeline', (kind) => {
  const whole = build(kind, place('llama-3.1-8b', 1, 1));
  const cut = build(kind, place('llama-3.1-8b', 1, 2));

  it('add up to the time of one engine plus the hop', () => {
    for (const batch of BATCHES) {
      const times = timesOf(cut, batch);
      const sum = times.reduce((total, us) => total + us, 0);
      expect(cut.stepUs(batch)).toBeCloseTo(sum, 9);
      const ratio = (sum - times[1]!) / whole.stepUs(batch);
      expect(Math.abs(ratio - 1)).toBeLessThan(0.02);
    }
  });

  it('give the head to the last stage, so that it is the slowest of equal ones', () => {
    const [first, , last] = timesOf(cut, BATCHES[1]!);
    expect(last).toBeGreaterThan(first!);
  });

  it('name the stages', () => {
    const { description } = build(kind, place('llama-3.1-8b', 1, 3));
    expect(description).toContain('PP3, stages of 11 + 11 + 10 layers');
  });
});

describe('step times of a pipeline', () => {
  it('name the own tables that they are composed from', () => {
    const own = { ...SHIPPED_OPERATORS, ownOf: () => 'own tables of ./mine (gemm.bf16)' };
    const cut = place('llama-3.1-8b', 1, 2);
    expect(buildStepTimeModel({ kind: 'composed' }, cut, own).description).toContain(
      'composed from measured operators of h100_sxm with own tables of ./mine (gemm.bf16), ',
    );
  });

  it('are composed if all stages are, else estimated, and never calibrated', () => {
    expect(build('auto', place('llama-3.1-8b', 1, 2)).method).toBe('composed');
    const without = buildStepTimeModel({ kind: 'auto' }, place('llama-3.1-8b', 1, 2));
    expect(without.method).toBe('estimated');
    expect(buildStepTimeModel({ kind: 'auto' }, place('llama-3.1-8b', 1, 1)).method).toBe(
      'calibrated',
    );
  });

  it.each<StepTimeSpec>([
    { kind: 'calibrated' },
    { kind: 'blis' },
    { kind: 'polynomial' },
    { kind: 'constant', timeToFirstTokenMs: 20, interTokenLatencyMs: 5 } as StepTimeSpec,
  ])('refuse those of a whole engine: $kind', (spec) => {
    expect(() => buildStepTimeModel(spec, place('llama-3.1-8b', 1, 2))).toThrow(
      `'${spec.kind}' step times do not support pipeline stages`,
    );
  });

  it('count batches outside of the range once', () => {
    const guard = new RangeGuard(build('composed', place('llama-3.1-8b', 1, 2)), {
      refuse: false,
      report: () => undefined,
    });
    timesOf(guard, { ...EMPTY, ...prompts(1, 60_000) });
    expect(guard.stepsOutsideRange).toBe(1);
  });
});

describe('the hop between two stages', () => {
  const bytesPerToken = 2 * 8192 * 2;
  const usPerByte = (bytesPerSecond: number) => 1e6 / bytesPerSecond;

  it('brings every GPU the hidden state and the residual over the interconnect', () => {
    const { interconnect } = findGpu('h100');
    const rate = interconnect.bytesPerSecond * interconnect.allReduceEfficiency;
    for (const tp of [1, 2, 4]) {
      const hop = hopFrom(0, place('llama-3.1-70b', tp, 2));
      expect(hop.fixedUs).toBe(10);
      expect(hop.usPerToken).toBeCloseTo(bytesPerToken * usPerByte(rate), 9);
    }
  });

  it('uses the fabric when the next stage is on another node', () => {
    const far = hopFrom(0, place('llama-3.1-70b', 8, 2));
    const near = hopFrom(0, place('llama-3.1-70b', 4, 2));
    const own = (bytesPerToken / 8) * usPerByte(findLink('infiniband-ndr').bytesPerSecond);
    expect(far.usPerToken).toBeCloseTo(own + (7 / 8) * near.usPerToken, 9);
    expect(hopFrom(1, place('llama-3.1-70b', 4, 4))).not.toEqual(near);
    expect(hopFrom(2, place('llama-3.1-70b', 4, 4))).toEqual(near);
  });
});
