import {
  type HeldOutByPhase,
  type HeldOutFactors,
  noiseFrom,
  type StepNoise,
  type StepTimeModel,
} from '@baton/step-time';
import { type MeasuredStep, phaseOf } from './measured-step';

/** Fewest points from which a range of four of five is given. */
const FEWEST = 5;
const DIGITS = 5;

/** The range of measured steps around a model that was not fitted to them. */
export function heldOutFactors(
  model: StepTimeModel,
  steps: readonly MeasuredStep[],
): HeldOutByPhase {
  const { decode, prefill } = ratiosOf(model, steps);
  return { prefill: endsOf(prefill), decode: endsOf(decode) };
}

/** The scatter of single steps around a model. Undefined: there are too few steps. */
export function noiseOf(model: StepTimeModel, steps: readonly MeasuredStep[]): StepNoise {
  const { decode, prefill } = ratiosOf(model, steps);
  const rounded = (ratios: readonly number[]) =>
    noiseFrom(ratios)?.map((factor) => Number(factor.toPrecision(DIGITS)));
  return { decode: rounded(decode), prefill: rounded(prefill) };
}

/** Ratios of measured to modelled times. A mixed step counts as prefill. */
function ratiosOf(model: StepTimeModel, steps: readonly MeasuredStep[]) {
  const ratios: Record<'decode' | 'prefill', number[]> = { decode: [], prefill: [] };
  for (const step of steps) {
    const phase = phaseOf(step) === 'decode' ? 'decode' : 'prefill';
    ratios[phase].push((1_000 * step.ms) / model.stepUs({ ...step, kvUsage: 0 }));
  }
  return ratios;
}

function endsOf(ratios: readonly number[]): HeldOutFactors | undefined {
  const points = ratios.length;
  if (points < FEWEST) return undefined;
  const sorted = [...ratios].sort((a, b) => a - b);
  const at = (i: number): number => Number(sorted[i]!.toPrecision(DIGITS));
  return { points, low: at(Math.floor(0.1 * points)), high: at(Math.ceil(0.9 * points) - 1) };
}
