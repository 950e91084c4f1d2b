import { NormalEquations } from '@baton/kernel';
import { HardwareError } from '@baton/hardware';
import type { BatchContextPolynomial, PolynomialSpec } from '@baton/step-time';
import { type MeasuredStep, phaseOf } from './measured-step';

/** Fewest different values; those of xPyD-sim's `calibrate`. */
const FEWEST_PROMPTS = 3;
const FEWEST_DECODES = 9;

/**
 * Fits xPyD-sim's polynomials: prefill of degree 2 over the prompt tokens of a step, decode over
 * `1, B, C, B · C, B², C²` with C the mean context. Least squares of the relative error. Mixed
 * steps are left out.
 *
 * @throws HardwareError `bad-points`
 */
export function fitPolynomial(steps: readonly MeasuredStep[]): PolynomialSpec {
  const prompts = steps.filter((step) => phaseOf(step) === 'prefill');
  const decodes = steps.filter((step) => phaseOf(step) === 'decode');
  return {
    kind: 'polynomial',
    prefill: prompts.length > 0 ? fitPrefill(prompts) : undefined,
    decode: decodes.length > 0 ? fitDecode(decodes) : undefined,
  };
}

function fitPrefill(steps: readonly MeasuredStep[]): PolynomialSpec['prefill'] {
  const tokens = steps.map((step) => step.prefillTokens);
  if (new Set(tokens).size < FEWEST_PROMPTS) tooFew('prefill', FEWEST_PROMPTS, 'numbers of tokens');
  const [a, b, c] = solve(steps, ({ prefillTokens: t }) => [t * t, t, 1]);
  return { coefficients: [a!, b!, c!], tokenRange: rangeOf(tokens) };
}

function fitDecode(steps: readonly MeasuredStep[]): BatchContextPolynomial {
  const points = steps.map((step) => `${step.decodeSeqs} ${step.decodeContext}`);
  if (new Set(points).size < FEWEST_DECODES) {
    tooFew('decode', FEWEST_DECODES, 'batch sizes and contexts');
  }
  const x = solve(steps, ({ decodeSeqs: b, decodeContext }) => {
    const c = decodeContext / b;
    return [1, b, c, b * c, b * b, c * c];
  });
  return {
    kind: 'batch-context',
    coefficients: [x[0]!, x[1]!, x[2]!, x[3]!, x[4]!, x[5]!],
    batchRange: rangeOf(steps.map((step) => step.decodeSeqs)),
    contextRange: rangeOf(steps.map((step) => step.decodeContext / step.decodeSeqs)),
  };
}

function solve(
  steps: readonly MeasuredStep[],
  rowOf: (step: MeasuredStep) => readonly number[],
): Float64Array {
  const system = new NormalEquations(rowOf(steps[0]!).length);
  for (const step of steps) system.add(rowOf(step), step.ms, 1 / step.ms);
  return system.solve();
}

function rangeOf(values: readonly number[]): readonly [number, number] {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return [low, high];
}

function tooFew(phase: string, count: number, of: string): never {
  throw new HardwareError(
    'bad-points',
    `A polynomial over ${phase} needs at least ${count} different ${of}.`,
  );
}
