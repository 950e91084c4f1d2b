import type { ClusterScenario, EnginePool } from '@baton/simulation';
import { RangeGuard, type StepTimeModel } from '@baton/step-time';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { performTask, TOLERANCE } from './plan-task';

const WORKLOAD = (() => {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (let i = 0; i < 200; i++) {
    builder.add({ arrivalUs: i * 1e6, promptTokens: 100, outputTokens: 10 });
  }
  return builder.build();
})();

/** Measured to one decoding sequence. */
const MODEL: StepTimeModel = {
  description: 'a line',
  stepUs: (batch) => 1_000 + 500 * batch.prefillTokens + 10 * batch.decodeSeqs,
  outsideRange: ({ decodeSeqs }) => {
    const range = [1, 1] as const;
    return decodeSeqs > 1 ? { what: 'decoding sequences', value: decodeSeqs, range } : undefined;
  },
};
const WARNINGS: unknown[] = [];

const POOL: EnginePool = {
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
    stepTime: new RangeGuard(MODEL, { refuse: false, report: (one) => WARNINGS.push(one) }),
  },
};
const SCENARIO: ClusterScenario = {
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
const OPTIONS = { target: { slo: { ttft: 200_000 }, attainment: 0.9 }, seed: 0 };

function perform(kind: 'search' | 'measure', rate: number) {
  return performTask(SCENARIO, { kind, rate, tolerance: TOLERANCE }, OPTIONS);
}

describe('the steps outside of the measured range of a task', () => {
  it('are those of the run at its rate, not of trials at other rates', () => {
    const found = perform('search', 10);
    expect(found.outside).toMatchObject([
      { role: 'aggregated', farthest: { what: 'decoding sequences', measured: [1, 1] } },
    ]);
    expect(found.outside).toEqual(perform('measure', found.rate).outside);
    expect(found.outside).not.toEqual(perform('measure', found.rate / 4).outside);
  });

  it('are unset when every step lay inside', () => {
    expect(perform('measure', 0.5)).not.toHaveProperty('outside');
  });

  it('give no warning of their own', () => {
    perform('measure', 20);
    expect(WARNINGS).toEqual([]);
  });
});
