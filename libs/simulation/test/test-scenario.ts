import type { EngineOptions } from '@baton/engine';
import { parseTopology, type EngineRole } from '@baton/policies';
import type { StepTimeModel } from '@baton/step-time';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import type { ClusterScenario, EnginePool } from '../src/scenario';

/**
 * A step of 1000 µs, plus 10 per prompt token and 1 per token of context, so that times can be
 * computed by hand.
 */
export const READABLE: StepTimeModel = {
  description: 'readable',
  stepUs: (b) => 1000 + 10 * b.prefillTokens + b.decodeContext,
  decodeLaw: () => ({ baseUs: 1000, perContextUs: 1, contextLimit: Infinity }),
};

export interface TestRequest {
  readonly atUs?: number;
  readonly prompt?: number;
  readonly output?: number;
  readonly after?: number;
  readonly session?: number;
  readonly priority?: number;
  readonly content?: readonly number[];
}

/** Requests, by default of 8 prompt and 4 output tokens. */
export function workloadOf(requests: readonly TestRequest[], contentBlockTokens = 4): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens });
  for (const { atUs = 0, prompt = 8, output = 4, content = [], ...rest } of requests) {
    builder.add({ arrivalUs: atUs, promptTokens: prompt, outputTokens: output, ...rest });
    for (const id of content) builder.addContent(id);
  }
  return builder.build();
}

export function poolFor(
  role: EngineRole,
  count: number,
  options: Partial<EngineOptions> = {},
): EnginePool {
  return {
    role,
    count,
    gpus: 1,
    kvBytesPerToken: 1000,
    startupUs: 0,
    // 100 µs plus 1 µs per token.
    link: { bytesPerSecond: 1e9, baseLatencyUs: 100, ports: 1 },
    options: {
      maxNumSeqs: 8,
      maxNumBatchedTokens: 64,
      blockSize: 4,
      numBlocks: 100,
      maxModelLen: 1000,
      longPrefillTokenThreshold: 0,
      seed: 1,
      enablePrefixCaching: true,
      enableChunkedPrefill: true,
      schedulingPolicy: 'fcfs',
      stepTime: READABLE,
      warmupPenaltyPercent: 0,
      warmupSteps: 0,
      ...options,
    },
  };
}

export function scenarioWith(
  topology: string,
  workload: Workload,
  { options, ...over }: Partial<ClusterScenario> & { options?: Partial<EngineOptions> } = {},
): ClusterScenario {
  const { prefill, decode, aggregated } = parseTopology(topology);
  return {
    pools: [
      poolFor('prefill', prefill, options),
      poolFor('decode', decode, options),
      poolFor('aggregated', aggregated, options),
    ].filter(({ count }) => count > 0),
    changes: [],
    workload,
    kvLeaseUs: 30_000_000,
    maxRuns: 3,
    seed: 1,
    leap: true,
    placement: {
      prefill: 'pull',
      decode: 'pull',
      decodeChoice: 'late',
      disaggregationThreshold: 0,
    },
    maxWaitingRequests: Infinity,
    maxConcurrency: Infinity,
    ...over,
  };
}
