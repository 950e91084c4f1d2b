import { mean } from '@baton/kernel';
import type { BatchAggregates, StepTimeModel } from '@baton/step-time';
import { type MeasuredStep, type Phase, PHASES, phaseOf } from './measured-step';

/** The clocks that measure steps count in whole µs. */
const RESOLUTION_MS = 1e-3;

/** The distance of a model from measured steps of one phase. */
export interface FitQuality {
  readonly phase: Phase;
  readonly points: number;
  /**
   * 1 − Σ (measured − model)² / Σ (measured − mean)², at most 1. For values that are
   * equal within a µs it is 1 when the model meets them within a µs, and 0 otherwise.
   */
  readonly r2: number;
  /** Mean of |model / measured − 1|, percent. */
  readonly meanErrorPercent: number;
  /** The largest of these errors with its sign, percent. */
  readonly maxErrorPercent: number;
}

/** One entry per phase with steps. */
export function qualityOf(model: StepTimeModel, steps: readonly MeasuredStep[]): FitQuality[] {
  return PHASES.flatMap((phase) => {
    const own = steps.filter((step) => phaseOf(step) === phase);
    return own.length === 0 ? [] : [qualityOfPhase(model, phase, own)];
  });
}

function qualityOfPhase(
  model: StepTimeModel,
  phase: Phase,
  steps: readonly MeasuredStep[],
): FitQuality {
  const meanMs = mean(steps.map((step) => step.ms));
  let [unexplained, total, errors, worst] = [0, 0, 0, 0];
  for (const step of steps) {
    const predicted = model.stepUs(batchOf(step)) / 1000;
    const error = predicted / step.ms - 1;
    unexplained += (predicted - step.ms) ** 2;
    total += (step.ms - meanMs) ** 2;
    errors += Math.abs(error);
    if (Math.abs(error) > Math.abs(worst)) worst = error;
  }
  return {
    phase,
    points: steps.length,
    r2: r2Of(unexplained / steps.length, total / steps.length),
    meanErrorPercent: (errors / steps.length) * 100,
    maxErrorPercent: worst * 100,
  };
}

/** Share of the variance that the model explains, from mean squares in ms². */
function r2Of(unexplained: number, variance: number): number {
  if (variance > RESOLUTION_MS ** 2) return 1 - unexplained / variance;
  return unexplained <= RESOLUTION_MS ** 2 ? 1 : 0;
}

function batchOf(step: MeasuredStep): BatchAggregates {
  return { ...step, kvUsage: 0 };
}
