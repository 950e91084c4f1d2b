import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AllToAllTable } from './all-to-all-table';

const HEAD = 'kernel_source,op_name,topk,num_experts,hidden_size,moe_ep_size,num_tokens,us';
const ROWS = [
  'NVLinkOneSided,alltoall_dispatch,8,256,7168,32,1,99',
  'NVLinkTwoSided,alltoall_dispatch,8,256,7168,32,4,12',
  'NVLinkTwoSided,alltoall_dispatch,8,256,7168,32,64,18',
  'NVLinkTwoSided,alltoall_combine_low_precision,8,256,7168,32,4,17',
];
const SHAPE = { topK: 8, hidden: 7168, ranks: 32 };
const table = new AllToAllTable([HEAD, ...ROWS].join('\n'));

describe('an all-to-all', () => {
  it('uses the two-sided kernel, with separate phases', () => {
    expect(table.timeUs('dispatch', SHAPE, 4)).toBe(12);
    expect(table.timeUs('combine_low_precision', SHAPE, 4)).toBe(17);
    expect(table.timeUs('combine', SHAPE, 4)).toBeUndefined();
  });

  it('is undefined for ranks, widths or numbers of experts without measurements', () => {
    expect(table.timeUs('dispatch', { ...SHAPE, ranks: 16 }, 4)).toBeUndefined();
    expect(table.timeUs('dispatch', { ...SHAPE, hidden: 4096 }, 4)).toBeUndefined();
    expect(table.timeUs('dispatch', { ...SHAPE, topK: 6 }, 4)).toBeUndefined();
  });

  it('never falls with tokens: flat before the first, in proportion after the last', () => {
    const tokens = fc.integer({ min: 1, max: 1_000 });
    fc.assert(
      fc.property(tokens, tokens, (a, b) => {
        const [few, many] = [Math.min(a, b), Math.max(a, b)];
        const [low, high] = [few, many].map((own) => table.timeUs('dispatch', SHAPE, own)!);
        expect(low).toBeLessThanOrEqual(high!);
      }),
      { numRuns: 50 },
    );
    expect(table.timeUs('dispatch', SHAPE, 1)).toBe(12);
    expect(table.timeUs('dispatch', SHAPE, 128)).toBe(36);
  });
});
