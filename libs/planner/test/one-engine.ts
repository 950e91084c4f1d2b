import type { ClusterScenario, EnginePool } from '@baton/simulation';
import { WorkloadBuilder } from '@baton/workload';

export const COUNT = 200;
/** Prompts of 100 tokens, one a second. */
const WORKLOAD = (() => {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (let i = 0; i < COUNT; i++) {
    builder.add({ arrivalUs: i * 1e6, promptTokens: 100, outputTokens: 10 });
  }
  return builder.build();
})();

/** 51 ms for a prompt alone, 1 ms and a bit for a token: some 16 requests a second. */
export const POOL: EnginePool = {
  role: 'aggregated',
  count: 1,
  gpus: 1,
  kvBytesPerToken: 1,
  startupUs: 0,
  link: { bytesPerSecond: 1e9, baseLatencyUs: 0, ports: 1 },
  options: {
    maxNumSeqs: 8,
    maxNumBatchedTokens: 128,
    blockSize: 16,
    numBlocks: 1_000,
    maxModelLen: 1_000,
    longPrefillTokenThreshold: 0,
    seed: 0,
    schedulingPolicy: 'fcfs',
    enablePrefixCaching: true,
    enableChunkedPrefill: true,
    warmupPenaltyPercent: 0,
    warmupSteps: 0,
    stepTime: {
      description: 'a line',
      stepUs: (b) => 1_000 + 500 * b.prefillTokens + 10 * b.decodeSeqs,
    },
  },
};
export const SCENARIO: ClusterScenario = {
  pools: [POOL],
  changes: [],
  workload: WORKLOAD,
  kvLeaseUs: 30e6,
  maxRuns: 3,
  seed: 0,
  placement: { prefill: 'pull', decode: 'pull', decodeChoice: 'late', disaggregationThreshold: 0 },
  maxWaitingRequests: Infinity,
  maxConcurrency: Infinity,
  leap: true,
};
