import { describe, expect, it } from 'vitest';
import { planReversal } from '../../validation/plan-regret';

describe('the plan of eight GPUs for azure-code', () => {
  it('is at least as good as aggregated engines with a token budget of 1,024', async () => {
    const { ours, theirs } = await planReversal(1);
    expect(theirs).toBeGreaterThan(0);
    expect(ours).toBeGreaterThanOrEqual(0.98 * theirs);
  });
});
