import type { ClusterScenario } from '@baton/simulation';
import type { EngineOptions } from '@baton/engine';
import type { Workload } from '@baton/workload';

type Chosen = Pick<
  EngineOptions,
  | 'stepTime'
  | 'maxNumSeqs'
  | 'maxNumBatchedTokens'
  | 'numBlocks'
  | 'kvGroups'
  | 'schedulerRecvInterval'
  | 'promptsFirst'
  | 'hasConnector'
> &
  Partial<Pick<EngineOptions, 'enableChunkedPrefill'>>;

/**
 * One aggregated engine with vLLM's defaults, except for the given options, as in the measurements.
 */
export function aggregatedScenario(workload: Workload, chosen: Chosen): ClusterScenario {
  return {
    pools: [
      {
        role: 'aggregated',
        count: 1,
        gpus: 1,
        kvBytesPerToken: 1,
        startupUs: 0,
        link: { bytesPerSecond: 1, baseLatencyUs: 0, ports: 1 },
        options: {
          blockSize: 16,
          maxModelLen: 131_072,
          longPrefillTokenThreshold: 0,
          seed: 0,
          enablePrefixCaching: true,
          enableChunkedPrefill: true,
          schedulingPolicy: 'fcfs',
          // On by default in vLLM since 0.14, and in SGLang and TensorRT-LLM: see docs/engine.md.
          asyncScheduling: true,
          warmupPenaltyPercent: 0,
          warmupSteps: 0,
          ...chosen,
        },
      },
    ],
    changes: [],
    workload,
    kvLeaseUs: 30_000_000,
    maxRuns: 3,
    seed: 0,
    leap: true,
    placement: {
      prefill: 'pull',
      decode: 'pull',
      decodeChoice: 'late',
      disaggregationThreshold: 0,
    },
    maxWaitingRequests: Infinity,
    maxConcurrency: Infinity,
  };
}
