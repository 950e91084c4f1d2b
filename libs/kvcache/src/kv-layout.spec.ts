import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KvGroups, KvLayout } from '.';

const layout = (kvGroups: KvGroups | undefined, blockSize = 2, stepTokens = 1024) =>
  new KvLayout({ blockSize, stepTokens, ...(kvGroups && { kvGroups }) });

const SLIDING = { full: 1, windowed: 1, windowTokens: 4 };

describe('a sliding window', () => {
  // test_sliding_window_remove_skipped_blocks of vLLM's
  // tests/v1/core/test_single_type_kv_cache_manager.py: window 4, blocks of 2.
  it.each([
    [0, 0],
    [4, 0],
    [5, 1],
    [6, 1],
    [7, 2],
    [11, 4],
  ])('with %i tokens computed has left %i blocks behind, as in vLLM', (computed, blocks) => {
    expect(layout(SLIDING).slidAt(computed)).toBe(blocks);
  });

  // test_chunked_local_attention_remove_skipped_blocks of the same file.
  it.each([
    [0, 0],
    [4, 2],
    [6, 2],
    [12, 6],
  ])(
    'in chunks with %i tokens computed has left %i blocks behind, as in vLLM',
    (computed, blocks) => {
      expect(layout({ ...SLIDING, isChunked: true }).slidAt(computed)).toBe(blocks);
    },
  );
});

describe('the blocks of a sequence', () => {
  // test_get_max_concurrency_for_kv_cache_config of vLLM's tests/v1/core/test_kv_cache_utils.py:
  // 16,384 tokens in steps of 1,024, a window of 1,024, blocks of 16.
  it('are 1,024 of a full group and 129 of a windowed one in the example of vLLM', () => {
    const groups = { full: 1, windowed: 1, windowTokens: 1024 };
    expect(layout(undefined, 16).needed(16_384)).toBe(1024);
    expect(layout(groups, 16).needed(16_384)).toBe(1024 + 129);
  });

  // Startup log of vLLM 0.22.1, gpt-oss-120b on 8 H200, --block-size 64, --max-model-len 131072,
  // 8,192 tokens per step: "GPU KV cache size" is blocks / blocks of one sequence · its tokens.
  it('give the KV cache size that vLLM logs for gpt-oss-120b, with and without groups', () => {
    const tokens = 131_072;
    const size = (blocks: number, own: KvLayout) =>
      Math.floor((blocks / own.needed(tokens)) * tokens);
    const plain = layout(undefined, 64, 8_192);
    const grouped = layout({ full: 1, windowed: 1, windowTokens: 128 }, 64, 8_192);
    // 36 layers per block without groups, 18 with them.
    const blocks = 13_724_416 / 64;
    expect(size(blocks, plain)).toBe(13_724_416);
    expect(size(2 * blocks, grouped)).toBe(25_798_626);
  });

  it('are as many as its tokens fill in one group without windows', () => {
    const plain = layout(undefined, 16);
    expect([plain.needed(33), plain.held(3, 0), plain.longest(7)]).toEqual([3, 3, 7 * 16]);
    expect(plain.slidAt(1_000)).toBe(0);
  });
});

const layouts = fc
  .record({
    blockSize: fc.constantFrom(1, 2, 4, 16),
    stepTokens: fc.integer({ min: 1, max: 100 }),
    full: fc.integer({ min: 1, max: 3 }),
    windowed: fc.integer({ min: 1, max: 6 }),
    windowTokens: fc.integer({ min: 1, max: 70 }),
    isChunked: fc.boolean(),
  })
  .map(({ blockSize, stepTokens, ...kvGroups }) => ({
    stepTokens,
    own: new KvLayout({ blockSize, stepTokens, kvGroups }),
  }));

describe('the most blocks at once', () => {
  it('suffice for every step of a sequence with any chunks', () => {
    const chunks = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(layouts, chunks, ({ own, stepTokens }, sizes) => {
        const steps = sizes.map((size) => Math.min(size, stepTokens));
        const total = steps.reduce((sum, step) => sum + step, 0);
        let computed = 0;
        for (const step of steps) {
          const slid = own.slidAt(computed);
          computed += step;
          const held = own.held(own.blocksFor(computed), slid);
          expect(held).toBeLessThanOrEqual(own.needed(total));
          expect(held).toBe(own.lacking(computed, 0, slid));
        }
      }),
    );
  });

  it('fit a pool exactly up to the longest sequence of it', () => {
    fc.assert(
      fc.property(layouts, fc.integer({ min: 0, max: 500 }), ({ own }, numBlocks) => {
        const longest = own.longest(numBlocks);
        if (longest > 0) expect(own.needed(longest)).toBeLessThanOrEqual(numBlocks);
        expect(own.needed(longest + 1)).toBeGreaterThan(numBlocks);
      }),
    );
  });

  it('include all blocks that the next token attends to', () => {
    fc.assert(
      fc.property(layouts, fc.integer({ min: 1, max: 400 }), ({ own }, computed) => {
        const { offset, period, blockSize } = own;
        const first = offset > 0 ? computed - offset : computed - (computed % period);
        expect(own.slidAt(computed) * blockSize).toBeLessThanOrEqual(Math.max(0, first));
      }),
    );
  });
});
