import { describe, expect, it } from 'vitest';
import { sizeFaultOfKvParams } from './kv-params-size';

const blocks = (count: number): object => ({
  remote_engine_id: 'prefill-0',
  remote_block_ids: [Array.from({ length: count }, (_, i) => i)],
});

describe('the size of kv_transfer_params', () => {
  it('suffices for the blocks of a million tokens', () => {
    expect(sizeFaultOfKvParams(blocks(65_536))).toBeUndefined();
    expect(sizeFaultOfKvParams({})).toBeUndefined();
  });

  it.each([
    ['values', blocks(70_000)],
    ['nested values', { a: Array.from({ length: 40_000 }, () => [[]]) }],
    ['text', { remote_host: 'x'.repeat(65_537) }],
    ['keys', { ['x'.repeat(65_537)]: 1 }],
  ])('is bounded: %s', (_what, params) => {
    expect(sizeFaultOfKvParams(params)?.message).toContain('at most 70000 values');
  });
});
