import { describe, expect, it } from 'vitest';
import { constantBatch } from './constant-batch';
import { countersIn, onlyNewMs } from './counters';
import { midMean, straight } from './statistics';
import type { Answered } from './target';

const stream = (ttftMs: number, gapsMs: readonly number[]): Answered => {
  const outputTokens = gapsMs.length + 1;
  return { startMs: 0, ttftMs, gapsMs, inputTokens: 100, outputTokens, cachedTokens: 0 };
};

describe('constantBatch', () => {
  it('uses the gaps between the last first token and the first last token', () => {
    const batch = constantBatch([stream(10, [5, 5, 5, 5, 5, 5]), stream(20, [5, 5, 5, 5, 5, 5])]);
    expect(batch).toMatchObject({ stepMs: 5, meanMs: 5, gaps: 4, staggerMs: 10 });
    // Two and no tokens behind the first one, on average half of four gaps further on.
    expect(batch?.context).toBeCloseTo(100 + 1 + 1.5 + 1);
  });

  it('ignores a pause in the fitted gap, and reports it', () => {
    const gaps = Array.from({ length: 40 }, (_none, i) => (i === 17 ? 205 : 5));
    expect(constantBatch([stream(10, gaps)])).toMatchObject({ stepMs: 5, meanMs: 10 });
  });

  it('measures tokens that arrive three at a time', () => {
    const gaps = Array.from({ length: 36 }, (_none, i) => (i % 3 === 2 ? 15 : 0));
    expect(constantBatch([stream(10, gaps)])?.stepMs).toBe(5);
  });

  it('counts tokens, not events that hold two', () => {
    const pairs = { ...stream(10, [8, 8, 8, 8]), outputTokens: 9 };
    expect(constantBatch([pairs])?.stepMs).toBe(4);
  });

  it('is undefined when the streams never decode together', () => {
    expect(constantBatch([stream(10, [5, 5]), stream(40, [5, 5])])).toBeUndefined();
  });
});

const PAGE = `# HELP vllm:num_requests_running Number of requests.
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0
vllm:num_requests_waiting{engine="0",model_name="m"} 4.0
vllm:request_success_total{engine="0",finished_reason="stop"} 5.0
vllm:request_success_total{engine="0",finished_reason="length"} 6.0
baton:time_to_first_token_part_seconds_bucket{part="queue",le="0.1"} 7
baton:time_to_first_token_part_seconds_sum{part="queue"} 0.5
baton:time_to_first_token_part_seconds_count{part="queue"} 7
baton:engines{stage="prefill",state="ready"} 2
baton:engines{stage="prefill",state="draining"} 1
baton:engines{stage="decode",state="ready"} 3
baton:engines{stage="aggregated",state="ready"} 0
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="900"} 1.0
`;

describe('countersIn', () => {
  it('sums the counters of engines', () => {
    expect(countersIn(PAGE)).toMatchObject({
      running: 3,
      waiting: 4,
      succeeded: 11,
      parts: { queue: { sum: 0.5, count: 7 }, prefill: { sum: 0, count: 0 } },
      engines: { prefill: 2, decode: 3, aggregated: 0 },
      kvBlocks: { blocks: 900, tokens: 16 },
    });
  });

  it('gives undefined for a server with other metrics', () => {
    expect(countersIn('go_goroutines 7\n')).toBeUndefined();
  });

  it('gives one new observation, and undefined for several', () => {
    const before = { sum: 1, count: 3 };
    expect(onlyNewMs(before, { sum: 1.25, count: 4 })).toBe(250);
    expect(onlyNewMs(before, { sum: 1.5, count: 5 })).toBeUndefined();
  });
});

describe('statistics', () => {
  it('average the middle half', () => {
    expect(midMean([100, 4, 6, 0])).toBe(5);
  });

  it('go straight from point to point, and level beyond', () => {
    const line = straight([
      [10, 1],
      [20, 3],
    ]);
    expect([5, 10, 15, 20, 25].map(line)).toEqual([1, 1, 2, 3, 3]);
    expect(straight([])(7)).toBe(0);
  });
});
