import { type BatonConfig, lengthHistogramOf, UsageError } from '@baton/config';
import { unreachable } from '@baton/kernel';
import { buildLengthModel, type LengthModel } from '@baton/workload';

/**
 * The natural length of answers by the configuration.
 *
 * @param datasetTokens lengths of a dataset's answers, if there is one
 * @throws UsageError for a distribution without its parameters
 */
export function lengthModelOf(config: BatonConfig, datasetTokens?: Int32Array): LengthModel {
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
    case 'histogram':
      return buildLengthModel({ kind: 'histogram', buckets: lengthHistogramOf(config) });
    case 'dataset':
      if (datasetTokens !== undefined) {
        return buildLengthModel({ kind: 'empirical', tokens: datasetTokens });
      }
      throw new UsageError('output_length dataset needs answers_path.');
    default:
      return unreachable(config.outputLength);
  }
}

/**
 * The natural length of reasoning: the distribution of answers if a mean defines it, else
 * lognormal.
 */
export function reasoningLengthModelOf(config: BatonConfig): LengthModel {
  const { outputLength, reasoningLengthMean: outputLengthMean } = config;
  const isByMean = outputLength !== 'histogram' && outputLength !== 'dataset';
  const kind = isByMean ? outputLength : 'lognormal';
  return lengthModelOf({ ...config, outputLength: kind, outputLengthMean });
}
