import type { FactorBase } from '../fits/calibrate';
import {
  type BatonConfig,
  UsageError,
  composedChoices,
  operatorFiles,
  placementOf,
} from '@baton/config';
import { describePrecision, HardwareError } from '@baton/hardware';
import { buildStepTimeModel } from '@baton/step-time';

/**
 * Composed step times of the measured server, over which factors are fitted: those of a deployment
 * that uses the profile, without its overhead.
 *
 * @throws UsageError when no steps can be composed for it
 */
export function factorBase(config: BatonConfig): FactorBase {
  return withUsageErrors(() => {
    const placement = placementOf(config);
    const source = operatorFiles({ own: config.operators });
    const spec = {
      kind: 'composed',
      overheadMs: 0,
      ...composedChoices(config, placement),
    } as const;
    const composed = buildStepTimeModel(spec, placement, source);
    const { framework, dataParallelSize: dp, enableExpertParallel } = config;
    return {
      model: composed as FactorBase['model'],
      fittedAt: {
        precision: describePrecision(placement.model.precision),
        ...(framework === 'vllm' ? {} : { framework }),
        ...(dp === 1 ? {} : { dp }),
        ...(enableExpertParallel ? { expertParallel: true } : {}),
        ownOperators: source.ownSum,
      },
    };
  });
}

/**
 * The formats of weights and KV cache of the measured server, for its profile.
 *
 * @throws UsageError for an unknown model or GPU, or a format that the GPU cannot compute in
 */
export function measuredPrecision(config: BatonConfig): string {
  return withUsageErrors(() => describePrecision(placementOf(config).model.precision));
}

function withUsageErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}
