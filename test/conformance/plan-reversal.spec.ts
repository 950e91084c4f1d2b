import { describe, expect, it } from 'vitest';
import { planReversal } from '../../validation/plan-regret';

/** A whole search: some 45 s of a free core. Ends what hangs, like `testTimeout`. */
const TIMEOUT_MS = 1_800_000;

describe('the plan of eight GPUs for azure-code', () => {
  it(
    'is at least as good as aggregated engines with a token budget of 1,024',
    async () => {
      const { ours, theirs } = await planReversal(1);
      expect(theirs).toBeGreaterThan(0);
      expect(ours).toBeGreaterThanOrEqual(0.98 * theirs);
    },
    TIMEOUT_MS,
  );
});
