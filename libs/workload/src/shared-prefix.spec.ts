import { describe, expect, it } from 'vitest';
import { describeWorkload } from './describe-workload';
import { withSharedPrefix } from './shared-prefix';
import { WorkloadBuilder } from './workload-builder';

describe('a common text at the beginning of prompts', () => {
  it('is shared as far as each prompt reaches, in whole blocks', () => {
    const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
    for (const promptTokens of [100, 100, 40]) {
      builder.add({ arrivalUs: 0, promptTokens, outputTokens: 1 });
    }
    const shared = withSharedPrefix(builder.build(), 70);
    const { promptTokens, reusableShare } = describeWorkload(shared);
    expect(promptTokens.total).toBe(240);
    // The first request computes 64 tokens for all; the second finds 64, and the third 32.
    expect(reusableShare).toBeCloseTo(96 / 240, 10);
  });

  it('keeps what requests share behind it', () => {
    const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
    for (const _twin of [1, 2]) {
      builder.add({ arrivalUs: 0, promptTokens: 64, outputTokens: 1 });
      builder.addContents([1, 2, 3, 4], 0);
    }
    const shared = withSharedPrefix(builder.build(), 32);
    expect(describeWorkload(shared).reusableShare).toBe(0.5);
    expect([...shared.contentIds.subarray(2, 4)]).toEqual([...shared.contentIds.subarray(6, 8)]);
    expect(Math.max(...shared.contentIds)).toBeLessThanOrEqual(shared.contentCount);
  });
});
