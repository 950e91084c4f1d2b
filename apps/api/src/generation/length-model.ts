import { unreachable } from '@baton/kernel';
import type { BatonConfig } from '@baton/runtime';
import { buildLengthModel, type LengthModel } from '@baton/workload';

/** The natural length of answers as the configuration describes it. */
export function lengthModelOf(config: BatonConfig): LengthModel {
  const { outputLengthMean: mean, outputLengthMin: min } = config;
  const max = Math.max(min, config.outputLengthMax);
  switch (config.outputLength) {
    case 'constant':
      return buildLengthModel({ kind: 'constant', tokens: Math.round(mean) });
    case 'uniform':
      return buildLengthModel({ kind: 'uniform', min, max });
    case 'geometric':
      return buildLengthModel({ kind: 'geometric', mean, min, max });
    case 'lognormal':
      return buildLengthModel({
        kind: 'lognormal',
        mean,
        sigma: config.outputLengthSigma,
        min,
        max,
      });
    default:
      return unreachable(config.outputLength);
  }
}
