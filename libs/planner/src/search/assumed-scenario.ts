import type { ClusterScaling } from '@baton/simulation';
import { type ClusterScenario, type EnginePool, poolOf, scenarioOf } from '@baton/simulation';
import { type BatonConfig, UsageError } from '@baton/config';
import { HardwareError, neighbouringGpus } from '@baton/hardware';
import { formatTopology, parseTopology } from '@baton/policies';
import { formatNumber } from '@baton/report';
import {
  scaleLengths,
  withSharedPrefix,
  type Workload,
  type WorkloadDescription,
  WorkloadError,
} from '@baton/workload';
import { type Assumption, concerns } from '../candidates/assumption';
import type { Candidate } from '../candidates/candidates';
import { configOf } from '../engines/split-config';

/** Mixed-batch factors: none, and the lowest and highest that were measured (docs/step-time.md). */
const MIXED_DECODE_FACTORS = [1, 1.75, 3.2] as const;
/** Factors on lengths and on the link. */
const HALF_AND_TWICE = [0.5, 2] as const;
const LOST_ROLES = ['prefill', 'decode', 'aggregated'] as const;
/**
 * Step-time models composed of attention and overhead. Others were measured or configured as a
 * whole.
 */
const COMPOSED: ReadonlySet<BatonConfig['stepTime']> = new Set([
  ...(['auto', 'composed', 'calibrated', 'roofline'] as const),
]);

/** The workload of a plan, and the costs of other GPUs. */
export interface AssumedInputs {
  readonly workload: Workload;
  readonly description: WorkloadDescription;
  /** Prices and watts of the GPUs of a configuration; undefined where they are not known. */
  readonly ratesOf: (config: BatonConfig) => Assumption['rates'];
}

/** The assumptions that a plan varies: about the model, the load, the cluster and the cache. */
export function assumptionsOf(config: BatonConfig, inputs: AssumedInputs): Assumption[] {
  return [
    ...modelAssumptions(config),
    ...loadAssumptions(),
    ...LOST_ROLES.map((lost) => ({
      name: `one ${lost} engine lost`,
      variable: `${lost} engines`,
      lost,
    })),
    ...gpuAssumptions(config, inputs),
    ...cacheAssumptions(config, inputs),
  ];
}

/** Assumptions about what no configuration tells: the link, and the parts of the step times. */
export function modelAssumptions(config: BatonConfig): Assumption[] {
  const isComposed = COMPOSED.has(config.stepTime);
  // The steps of a file may already include an overhead of unknown size.
  const hasOverhead =
    config.stepOverheadMs !== undefined || (isComposed && config.stepTimeFile === undefined);
  const overhead = [
    { name: 'no step overhead', variable: 'step overhead', overheadFactor: 0 },
    { name: 'step overhead x2', variable: 'step overhead', overheadFactor: 2 },
  ];
  return [
    ...HALF_AND_TWICE.map((linkFactor) => {
      return { name: `link bandwidth x${linkFactor}`, variable: 'link bandwidth', linkFactor };
    }),
    ...(hasOverhead ? overhead : []),
    ...(isComposed ? MIXED_DECODE_FACTORS : []).map((mixedDecodeFactor) => {
      const variable = 'mixed_decode_factor';
      return { name: `${variable} ${mixedDecodeFactor}`, variable, mixedDecodeFactor };
    }),
  ];
}

function loadAssumptions(): Assumption[] {
  return [
    ...HALF_AND_TWICE.map((promptFactor) => {
      return { name: `prompts x${promptFactor}`, variable: 'prompt length', promptFactor };
    }),
    ...HALF_AND_TWICE.map((outputFactor) => {
      return { name: `outputs x${outputFactor}`, variable: 'output length', outputFactor };
    }),
  ];
}

/**
 * The GPU before and the one after, where all engines have the same one and its step times are
 * known.
 */
function gpuAssumptions(config: BatonConfig, { ratesOf }: AssumedInputs): Assumption[] {
  const { gpu, prefillGpu, decodeGpu, stepTime, stepTimeFile } = config;
  const isKnown = COMPOSED.has(stepTime) && stepTimeFile === undefined;
  if (!isKnown || prefillGpu !== undefined || decodeGpu !== undefined) return [];
  const { older, newer } = neighbouringGpus(gpu);
  return [older, newer].flatMap((other) => {
    if (other === undefined) return [];
    const options = { gpu: other };
    return [{ name: other, variable: 'GPU', options, rates: ratesOf({ ...config, ...options }) }];
  });
}

function cacheAssumptions(config: BatonConfig, inputs: AssumedInputs): Assumption[] {
  const { description, workload } = inputs;
  const variable = 'prefix cache';
  const repeats = description.reusableShare > 0 && config.enablePrefixCaching;
  const none = { name: 'no prefix cache', variable, options: { enablePrefixCaching: false } };
  const half = description.promptTokens.mean / 2;
  const sharedPrefixTokens = half - (half % workload.contentBlockTokens);
  // An adapter has its own KV, so that its requests share nothing with others.
  const canShare = sharedPrefixTokens > 0 && workload.adapter === undefined;
  const shared = {
    name: `${formatNumber(sharedPrefixTokens)} common prompt tokens`,
    variable,
    sharedPrefixTokens,
    options: { enablePrefixCaching: true },
  };
  return [...(repeats ? [none] : []), ...(canShare ? [shared] : [])];
}

/** The configuration of a cluster under an assumption. */
export function configUnder(config: BatonConfig, { lost, options }: Assumption): BatonConfig {
  const changed = { ...config, ...options };
  if (lost === undefined) return changed;
  const topology = parseTopology(config.topology);
  return { ...changed, topology: formatTopology({ ...topology, [lost]: topology[lost] - 1 }) };
}

/**
 * The scenario of a configuration under an assumption.
 *
 * @throws UsageError or HardwareError when its engines cannot be built, WorkloadError when the
 *   contents of prompts of another length have no whole blocks
 */
export function scenarioUnder(
  assumption: Assumption,
  given: BatonConfig,
  load: { readonly workload: Workload; readonly scaling?: ClusterScaling },
): ClusterScenario {
  const config = configUnder(given, assumption);
  const { workload: whole, ...extras } = load;
  const workload = workloadUnder(assumption, config, whole);
  const scenario = scenarioOf(config, workload, extras);
  return { ...scenario, pools: scenario.pools.map((pool) => assumed(pool, config, assumption)) };
}

/** Whether the split differs under the assumption, and its engines can be built so. */
export function canAssume(
  assumption: Assumption,
  split: Candidate,
  { config, workload }: { readonly config: BatonConfig; readonly workload: Workload },
): boolean {
  if (!concerns(assumption, split)) return false;
  try {
    scenarioUnder(assumption, configOf(config, split), { workload });
    return true;
  } catch (error) {
    const refusals = [UsageError, HardwareError, WorkloadError];
    if (refusals.some((refusal) => error instanceof refusal)) return false;
    throw error;
  }
}

function workloadUnder(
  { promptFactor, outputFactor, sharedPrefixTokens }: Assumption,
  config: BatonConfig,
  workload: Workload,
): Workload {
  if (sharedPrefixTokens !== undefined) return withSharedPrefix(workload, sharedPrefixTokens);
  if (promptFactor === undefined && outputFactor === undefined) return workload;
  const { aggregated } = parseTopology(config.topology);
  const { options } = poolOf(config, aggregated > 0 ? 'aggregated' : 'decode', 1);
  const mostTokens = options.maxModelLen;
  return scaleLengths(workload, { prompt: promptFactor, output: outputFactor, mostTokens });
}

function assumed(pool: EnginePool, config: BatonConfig, assumption: Assumption): EnginePool {
  const { overheadFactor, mixedDecodeFactor } = assumption;
  const { role, count, options, link } = pool;
  if (assumption.linkFactor !== undefined) {
    const bytesPerSecond = link.bytesPerSecond * assumption.linkFactor;
    return { ...pool, link: { ...link, bytesPerSecond } };
  }
  if (overheadFactor !== undefined) {
    const stepOverheadMs = overheadFactor * (options.stepTime.overheadMs ?? 0);
    return poolOf({ ...config, stepOverheadMs }, role, count);
  }
  if (mixedDecodeFactor !== undefined) return poolOf({ ...config, mixedDecodeFactor }, role, count);
  return pool;
}
