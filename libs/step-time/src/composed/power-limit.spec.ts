import { findGpu, findModel, servedIn } from '@baton/hardware';
import { median } from '@baton/kernel';
import { OperatorTables } from '../operators/operator-tables';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decoding, prompts } from '../../test/test-batches';
import { buildStepTimeModel } from '../build-step-time-model';
import { kernelsOf } from './kernel-choice';
import type { LinearLayers } from './linear-layers';
import { MeasuredEnds } from './measured-ends';
import { atPowerLimit, settledPart } from './power-limit';
import { SHIPPED_OPERATORS } from '../../../../test/support/shipped-operators';

const FOLDER = join(__dirname, '..', '..', '..', '..', 'data', 'measured', 'pytorch-hopper');
const PRODUCT = { n: 14_336, k: 8_192 };

interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly format: 'bf16' | 'fp8';
  readonly us: number;
}

/** Measured products that ran in the given way. */
function products(gpu: string, run: string): Product[] {
  const [, ...rows] = readFileSync(join(FOLDER, `${gpu}-long.csv`), 'utf8')
    .trimEnd()
    .split('\n');
  return rows
    .map((row) => row.split(','))
    .filter(([kernel, , , , , how]) => kernel === 'gemm' && how === run)
    .map(([, format, n, k, m, , us]) => ({
      m: Number(m),
      n: Number(n),
      k: Number(k),
      us: Number(us),
      format: format as Product['format'],
    }));
}

function same(a: Product, b: Product): boolean {
  return a.format === b.format && a.n === b.n && a.k === b.k && a.m === b.m;
}

function partsOf(gpuName: string) {
  const gpu = findGpu(gpuName);
  const tables = OperatorTables.of(gpu.operators!, SHIPPED_OPERATORS.texts)!;
  const placement = { model: findModel('llama-3.1-8b'), gpu, tp: 1 };
  return { placement, tables, ends: new MeasuredEnds(), isAtPowerLimit: true, ...kernelsOf({}) };
}

/** The layers with a product that takes this long at any size. */
const layersOf = (us: number): LinearLayers => ({
  timeUs: () => us,
  lastMeasured: () => Infinity,
});

/** Time of a product in long runs as a multiple of its time in short runs. */
function slowdown(gpu: string, { m, format, us, ...shape }: Product): number {
  return atPowerLimit(layersOf(us), partsOf(gpu), format).timeUs(m, shape)! / us;
}

describe.each(['h100', 'h200'])('matrix products on an %s at its power limit', (gpu) => {
  const long = products(gpu, 'long');
  const pairs = products(gpu, 'short').flatMap((short) => {
    const us = long.find((one) => same(one, short))?.us;
    return us === undefined ? [] : [{ short, ratio: us / short.us }];
  });

  it.each(['bf16', 'fp8'] as const)('take what they took in long runs in %s', (format) => {
    const own = pairs.filter(({ short }) => short.format === format);
    expect(own.length).toBeGreaterThan(60);
    const residuals = own.map(({ short, ratio }) => slowdown(gpu, short) - ratio);
    const squares = residuals.reduce((sum, one) => sum + one ** 2, 0);
    expect(Math.sqrt(squares / own.length)).toBeLessThan(0.04);
    const mean = residuals.reduce((sum, one) => sum + one, 0) / own.length;
    expect(Math.abs(mean)).toBeLessThan(0.01);
  });

  it.each([20, 100, 400])('had the expected part of the slowdown after %i ms', (ms) => {
    const parts = products(gpu, `${ms}ms:${4 * ms}ms`).flatMap((one) => {
      const pair = pairs.find(({ short }) => same(one, short));
      return pair ? [(one.us / pair.short.us - 1) / (pair.ratio - 1)] : [];
    });
    expect(parts.length).toBeGreaterThanOrEqual(5);
    expect(Math.abs(median(parts) - settledPart(ms * 1_000))).toBeLessThan(0.3);
  });
});

describe('the power limit', () => {
  it('leaves products that wait for memory alone', () => {
    const us = 1_000;
    const layers = atPowerLimit(layersOf(us), partsOf('h100'), 'bf16');
    expect(layers.timeUs(16, PRODUCT)).toBe(us);
  });

  it('leaves GPUs alone that were not measured', () => {
    const layers = layersOf(1);
    expect(atPowerLimit(layers, partsOf('b200'), 'bf16')).toBe(layers);
  });

  it('is approached within a step, from nothing to all of it', () => {
    expect(settledPart(0)).toBe(0);
    const parts = [1, 1e3, 1e4, 1e5, 1e6, 1e9].map(settledPart);
    expect(parts).toEqual([...parts].sort((a, b) => a - b));
    expect(parts.at(-1)).toBeCloseTo(1, 3);
  });

  it('slows steps with prompts, the longer the more, and no step that only decodes', () => {
    const gpu = findGpu('h100');
    const model = servedIn(findModel('llama-3.1-8b'), gpu, {});
    const placement = { model, gpu, tp: 1 };
    const composed = { kind: 'composed' } as const;
    const limited = buildStepTimeModel(composed, placement, SHIPPED_OPERATORS);
    const source = {
      ...SHIPPED_OPERATORS,
      cached: () => undefined,
      keep: (_: string, step: object) => delete (step as { atPowerLimit?: object }).atPowerLimit,
    };
    const unlimited = buildStepTimeModel(composed, placement, source);
    const ratio = (batch: ReturnType<typeof prompts>) =>
      limited.stepUs(batch) / unlimited.stepUs(batch);
    expect(ratio(decoding(64, 1_024))).toBe(1);
    const [short, middle, long] = [512, 2_048, 8_192].map((tokens) => ratio(prompts(1, tokens)));
    expect(short).toBeGreaterThan(1);
    expect(middle).toBeGreaterThan(short!);
    expect(long).toBeGreaterThan(middle!);
    expect(long).toBeLessThan(1.2);
  });
});
