import { type EnginePlacement, findGpu, findModel, HardwareError } from '@baton/hardware';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildStepTimeModel } from '..';
import { BLIS_BETA } from './blis';
import { EMPTY, prompts } from '../../test/test-batches';

const decode = (decodeSeqs: number, decodeContext: number) => ({
  ...EMPTY,
  decodeSeqs,
  decodeContext,
});
const place = (model: string, gpu: string, tp: number): EnginePlacement => ({
  model: findModel(model),
  gpu: findGpu(gpu),
  tp,
});
const LLAMA = place('llama-3.1-8b', 'h100', 2);
const build = (beta?: readonly number[], placement = LLAMA) =>
  buildStepTimeModel({ kind: 'blis', beta }, placement);

/** Llama-3.1-8B on H100 TP2 by hand, µs. */
const LAYER = 4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14_336;
const WEIGHT_US = (32 * LAYER) / 2 / 3.35e6 / 0.5;
const TOKEN_US = (2 * 32 * LAYER) / 2 / 989.5e6;
const PAIR_US = (32 * 4 * 16 * 128) / 989.5e6;
const KV_US = (32 * 2 * 512 * 2) / 3.35e6;
const REDUCE_US = (64 * 4096 * 2 * 2 * 0.5) / 3.35e6;

describe('blis', () => {
  it('takes the coefficients that BLIS ships, in its order', () => {
    const [pf, , weight, reduce, layer, request, step, , , kv] = BLIS_BETA;
    const fixed = weight! * WEIGHT_US + layer! * 32 + step!;
    const eight = fixed + request! * 8 + reduce! * REDUCE_US * 8 + kv! * KV_US * 8000;
    expect(build().stepUs(decode(8, 8000)) / eight).toBeCloseTo(1, 9);
    const prompt = prompts(1, 512);
    const compute = 512 * TOKEN_US + PAIR_US * 1.5 * 512 ** 2;
    const alone = fixed + request! + reduce! * REDUCE_US * 512 + pf! * compute;
    expect(build().stepUs(prompt) / alone).toBeCloseTo(1, 9);
    expect(build().description).toBe('BLIS trained physics llama-3.1-8b on h100 TP2');
  });

  it('is close to BLIS’s validation: 8B on one H100 decodes in 8.1 to 9 ms', () => {
    const ms = build(undefined, place('llama-3.1-8b', 'h100', 1)).stepUs(decode(16, 16_000)) / 1000;
    expect(ms).toBeGreaterThan(7);
    expect(ms).toBeLessThan(9);
  });

  it.each([
    [1, 6.86],
    [32, 8.11],
    [256, 18.08],
  ])('decodes %i streams of Qwen3-8B 2 to 23 %% too slowly beside vLLM 0.30', (clients, ms) => {
    const model = build(undefined, place('qwen3-8b', 'h100', 1));
    const error = model.stepUs(decode(clients, clients * 640)) / 1000 / ms - 1;
    expect(error).toBeGreaterThan(0.01);
    expect(error).toBeLessThan(0.23);
  });

  it('computes long prompts far too fast: 8,192 tokens took 253.9 ms', () => {
    const prompt = prompts(1, 8192);
    const ms = build(undefined, place('qwen3-8b', 'h100', 1)).stepUs(prompt) / 1000;
    expect(Math.round(ms)).toBe(34);
  });

  it('takes the larger of computing and reading with a short list, and its laws say where', () => {
    const beta = [1, 1, 1, 1, 30, 4, 100];
    const model = build(beta);
    const crossing = (64 * TOKEN_US) / (KV_US - PAIR_US);
    const law = model.decodeLaw!(64)!;
    expect(law.contextLimit).toBe(Math.floor(crossing));
    expect(law.perContextUs).toBeCloseTo(PAIR_US, 9);
    expect(model.decodeLaw!(64, Math.ceil(crossing))!.perContextUs).toBeCloseTo(KV_US, 9);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(2_000_000), (seqs, context) => {
        const { baseUs, perContextUs, contextLimit } = model.decodeLaw!(seqs, context)!;
        expect(contextLimit).toBeGreaterThanOrEqual(context);
        expect(baseUs + perContextUs * context).toBe(model.stepUs(decode(seqs, context)));
        const larger = Math.max(seqs * TOKEN_US + PAIR_US * context, KV_US * context);
        const rest = WEIGHT_US + seqs * (REDUCE_US + 4) + 32 * 30 + 100;
        expect(model.stepUs(decode(seqs, context)) / (rest + larger)).toBeCloseTo(1, 9);
      }),
    );
  });

  it('charges the exchange of ranks with the coefficient of all-reduces unless it has its own', () => {
    const ranks = { ...place('qwen3-30b-a3b', 'h100', 1), dp: 4, expertParallel: true };
    const at = (beta: readonly number[]) => build(beta, ranks).stepUs(decode(1, 0));
    const without = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    const exchangeUs = (48 * 8 * (3 / 4) * 2 * 2048 * 2) / 3.35e6;
    const with4 = without.with(3, 1).slice(0, 10);
    expect(at(with4) - at(without)).toBeCloseTo(exchangeUs, 9);
    expect(at(without.with(10, 2)) - at(without)).toBeCloseTo(2 * exchangeUs, 9);
  });

  it.each([
    ['too few', [1, 2, 3]],
    ['too many', Array<number>(12).fill(1)],
    ['negative', BLIS_BETA.with(3, -1)],
    ['unusable', BLIS_BETA.with(3, NaN)],
  ])('refuses %s coefficients', (_, beta) => {
    expect(() => build(beta)).toThrow(HardwareError);
    expect(() => build(beta)).toThrow('beta_coeffs must be 7 to 11 numbers from 0');
  });
});
