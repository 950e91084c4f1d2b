import type { WeightFormat } from '@baton/hardware';
import type { LinearLayers } from './linear-layers';
import type { StepParts } from './step-parts';

/** Products with a share of the peak over `from` take 1 + slope · (share − from) times as long. */
interface Slowdown {
  readonly from: number;
  readonly slope: number;
}

type ComputedIn = 'bf16' | 'fp8';

/**
 * What matrix products take longer at the power limit (700 W), fitted to products that ran for a
 * second, relative to six short runs after a pause: `data/measured/pytorch-hopper`, `*-long.csv`,
 * 84 shapes in BF16 and 62 in FP8 per GPU; root mean square of the residuals: 2.6 to 3.9 %. Other
 * GPUs were not measured.
 */
const SLOWDOWNS: Readonly<Record<string, Readonly<Record<ComputedIn, Slowdown>>>> = {
  h100_sxm: { bf16: { from: 0.46, slope: 0.4 }, fp8: { from: 0.3, slope: 0.32 } },
  h200_sxm: { bf16: { from: 0.43, slope: 0.445 }, fp8: { from: 0.29, slope: 0.443 } },
};

/**
 * Time in which a GPU's clocks approach those of its power limit, µs: products that alternated with
 * decode for 20, 100 and 400 ms each had about 0.1, 0.5 and 0.8 of the slowdown (the same files).
 */
const SETTLING_US = 70_000;

/** Whether the power limit of a system's GPUs was measured. */
export function hasPowerLimit(system: string | undefined): boolean {
  return system !== undefined && system in SLOWDOWNS;
}

/** Products of a GPU that has long been at its power limit. */
export function atPowerLimit(
  layers: LinearLayers,
  { placement, tables }: StepParts,
  format: WeightFormat,
): LinearLayers {
  const computedIn = computedInOf(format);
  const slowdown = computedIn && SLOWDOWNS[placement.gpu.operators ?? '']?.[computedIn];
  if (computedIn === undefined || slowdown === undefined) return layers;
  const flopsPerUs = tables.system.flops[computedIn] / 1e6;
  return {
    ...layers,
    timeUs: (m, shape) => {
      const us = layers.timeUs(m, shape);
      if (us === undefined) return undefined;
      const share = (2 * m * shape.n * shape.k) / (us * flopsPerUs);
      return us * (1 + slowdown.slope * Math.max(0, share - slowdown.from));
    },
  };
}

/** Weights of four bits are multiplied in BF16 on the GPUs that were measured. */
function computedInOf(format: WeightFormat): ComputedIn | undefined {
  if (format.startsWith('fp8')) return 'fp8';
  return format === 'bf16' || format.startsWith('int4') ? 'bf16' : undefined;
}

/**
 * The part of the slowdown that a step of so many µs has on average, 0 to 1, when the GPU was below
 * its limit before it: clocks settle exponentially.
 */
export function settledPart(stepUs: number): number {
  const settlings = stepUs / SETTLING_US;
  return settlings > 0 ? 1 + Math.expm1(-settlings) / settlings : 0;
}
