import { type BatonConfig, defaultConfig } from '@baton/config';
import { type ClusterScenario, scenarioOf } from '@baton/simulation';
import type { Workload } from '@baton/workload';

/**
 * Engines as those of vLLM before chunked prefill (0.2 to 0.5): whole prompts in steps of their
 * own, before any decode; no prefix cache; no batch is formed during a step.
 */
export function wholePrompts(workload: Workload, config: Partial<BatonConfig>): ClusterScenario {
  const then = defaultConfig({
    ...config,
    enableChunkedPrefill: false,
    enablePrefixCaching: false,
    asyncScheduling: false,
  });
  const scenario = scenarioOf(then, workload);
  const pools = scenario.pools.map((pool) => {
    const promptsFirst = pool.role === 'aggregated';
    return { ...pool, options: { ...pool.options, promptsFirst } };
  });
  return { ...scenario, pools };
}
