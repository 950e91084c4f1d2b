import { type ClusterScenario, type EnginePool, poolOf, scenarioOf } from '@baton/simulation';
import type { BatonConfig } from '@baton/config';
import type { Assumption } from '../candidates/assumption';
import type { Candidate } from '../candidates/candidates';
import type { Workload } from '@baton/workload';
import { configOf } from '../engines/split-config';

/** Mixed-batch factors: none, and the lowest and highest that were measured (docs/step-time.md). */
const MIXED_DECODE_FACTORS = [1, 1.75, 3.2] as const;
/**
 * Step-time models composed of attention and overhead. Others were measured or configured as a
 * whole.
 */
const COMPOSED: ReadonlySet<BatonConfig['stepTime']> = new Set([
  ...(['auto', 'composed', 'calibrated', 'roofline'] as const),
]);

/** The assumptions that a plan varies. */
export function assumptionsOf(config: BatonConfig): Assumption[] {
  const isComposed = COMPOSED.has(config.stepTime);
  // The steps of a file may already include an overhead of unknown size.
  const hasOverhead =
    config.stepOverheadMs !== undefined || (isComposed && config.stepTimeFile === undefined);
  return [
    { name: 'link bandwidth x0.5', linkFactor: 0.5 },
    { name: 'link bandwidth x2', linkFactor: 2 },
    ...(hasOverhead
      ? [
          { name: 'no step overhead', overheadFactor: 0 },
          { name: 'step overhead x2', overheadFactor: 2 },
        ]
      : []),
    ...(isComposed ? MIXED_DECODE_FACTORS : []).map((factor) => {
      return { name: `mixed_decode_factor ${factor}`, mixedDecodeFactor: factor };
    }),
    { name: 'aggregated token budget / 4', aggregatedBudgetFactor: 0.25 },
  ];
}

/** The split under an assumption, as a scenario. */
export function scenarioUnder(
  assumption: Assumption,
  split: Candidate,
  { config, workload }: { readonly config: BatonConfig; readonly workload: Workload },
): ClusterScenario {
  const own = configOf(config, split);
  return underAssumption(scenarioOf(own, workload), own, assumption);
}

/** The scenario of a configuration, with its engines under an assumption. */
export function underAssumption(
  scenario: ClusterScenario,
  config: BatonConfig,
  assumption: Assumption,
): ClusterScenario {
  return { ...scenario, pools: scenario.pools.map((pool) => assumed(pool, config, assumption)) };
}

function assumed(pool: EnginePool, config: BatonConfig, assumption: Assumption): EnginePool {
  const { overheadFactor, mixedDecodeFactor, aggregatedBudgetFactor } = assumption;
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
  if (aggregatedBudgetFactor === undefined || role !== 'aggregated') return pool;
  const maxNumBatchedTokens = smallerBudget(options, config, aggregatedBudgetFactor);
  return poolOf({ ...config, maxNumBatchedTokens }, role, count);
}

/** The token budget never falls below a full batch of decodes. */
function smallerBudget(
  { maxNumBatchedTokens, maxNumSeqs }: EnginePool['options'],
  { numSpeculativeTokens }: BatonConfig,
  factor: number,
): number {
  const smaller = Math.round(maxNumBatchedTokens * factor);
  return Math.max(smaller, maxNumSeqs, numSpeculativeTokens + 1);
}
