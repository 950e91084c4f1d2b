import type { BatonConfig, ConfigKey } from './config';

const CONSTANT: readonly ConfigKey[] = ['timeToFirstToken', 'timeToFirstTokenStdDev'];
const PER_TOKEN: readonly ConfigKey[] = [
  'prefillOverhead',
  'prefillTimePerToken',
  'prefillTimeStdDev',
  'interTokenLatency',
  'interTokenLatencyStdDev',
];

/**
 * The step-time model for given latencies when none is named, by llm-d-inference-sim's rule:
 * constant when a time to first token (or its deviation) is given and above 0, else per-token.
 * Undefined when no latency is given.
 */
export function impliedStepTime(
  config: BatonConfig,
  isGiven: (key: ConfigKey) => boolean,
): BatonConfig['stepTime'] | undefined {
  const given = [...CONSTANT, ...PER_TOKEN].filter(isGiven);
  if (given.length === 0) return undefined;
  const isConstant = CONSTANT.some((key) => Number(config[key]) > 0);
  return isConstant ? 'constant' : 'per-token';
}
