import { describeWorkload } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { loadWorkload } from '../load-workload';
import { SHIPPED_TRACES, shippedTracesText } from './shipped-traces';

/**
 * Requests and infinite-cache hit rate at 16-token blocks. The Mooncake paper (FAST 2025, figure 9)
 * gives 40.1 and 65.8 %.
 */
const KNOWN: Readonly<Record<string, readonly [number, number]>> = {
  'mooncake-conversation': [12_031, 0.374],
  'mooncake-synthetic': [3_993, 0.651],
  'azure-conv-2023': [19_366, 0],
  'azure-code-2023': [8_819, 0],
};

describe('shipped traces', () => {
  it.each(SHIPPED_TRACES)('$name is read whole, without a correction', async ({ name, format }) => {
    const { workload, report, source } = await loadWorkload(
      { trace: name },
      { seed: 1, blockSize: 16 },
    );
    const { requests, reusableShare } = describeWorkload(workload);
    const [count = 0, reusable = 0] = KNOWN[name] ?? [];
    expect(requests).toBe(count);
    expect(Math.abs(reusableShare - reusable)).toBeLessThan(0.002);
    expect(source).toEqual({ kind: 'trace', name, format });
    expect(report).toMatchObject({ emptyPrompts: 0, emptyOutputs: 0, failed: 0, outOfOrder: 0 });
    expect(shippedTracesText()).toContain(`${count.toLocaleString('en')} requests`);
  });

  it('have different names', () => {
    expect(Object.keys(KNOWN)).toEqual(SHIPPED_TRACES.map(({ name }) => name));
    expect(shippedTracesText().split('\n')).toHaveLength(2 * SHIPPED_TRACES.length + 1);
  });
});
