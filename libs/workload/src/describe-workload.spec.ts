import { describe, expect, it } from 'vitest';
import { describeWorkload } from './describe-workload';
import { WorkloadBuilder } from './workload-builder';

describe('describeWorkload', () => {
  it('counts, sums and finds the share that an unlimited cache would hold', () => {
    const builder = new WorkloadBuilder();
    const lists = [[1, 2], [1, 2, 3], [1, 4], [0, 1], []];
    lists.forEach((ids, i) => {
      builder.add({ arrivalUs: i < 3 ? 0 : 1_000_000 * i, promptTokens: 50, outputTokens: i + 1 });
      builder.addContents(ids, 0);
    });
    expect(describeWorkload(builder.build())).toEqual({
      requests: 5,
      laterTurns: 0,
      durationSeconds: 4,
      ratePerSecond: 1,
      mostAtOneInstant: 3,
      promptTokens: { total: 250, mean: 50, p50: 50, p90: 50, p95: 50, p99: 50, max: 50 },
      outputTokens: { total: 15, mean: 3, p50: 3, p90: 5, p95: 5, p99: 5, max: 5 },
      reusableShare: (32 + 16) / 250,
      contentBlockTokens: 16,
      contents: 4,
    });
  });

  it('describes a workload without requests', () => {
    expect(describeWorkload(new WorkloadBuilder().build())).toMatchObject({
      requests: 0,
      durationSeconds: 0,
      ratePerSecond: 0,
      mostAtOneInstant: 0,
      reusableShare: 0,
      promptTokens: { total: 0, mean: NaN, p50: NaN },
    });
  });
});
