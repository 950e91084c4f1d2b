import { describe, expect, it } from 'vitest';
import { readPage } from './scrape';

describe('a scraped page', () => {
  it('gives counters summed over engines, and the queues of each stage', () => {
    const page = [
      '# HELP vllm:time_to_first_token_seconds Time.',
      'vllm:time_to_first_token_seconds_bucket{le="0.1",engine="0"} 3',
      'vllm:time_to_first_token_seconds_sum{engine="0",model_name="a b"} 1.5',
      'vllm:time_to_first_token_seconds_sum{engine="1",model_name="a b"} 0.5',
      'vllm:time_to_first_token_seconds_count{engine="0",model_name="a b"} 3',
      'vllm:time_to_first_token_seconds_count{engine="1",model_name="a b"} 1',
      'vllm:request_success_total{engine="0",finished_reason="stop"} 2',
      'vllm:request_success_total{engine="0",finished_reason="length"} 1',
      'baton:queue_depth{stage="prefill"} 4',
      'baton:queue_depth{stage="decode"} 0',
      'baton:sequences_opened_total 9',
      'vllm:kv_cache_usage_perc{engine="0"} NaN',
    ].join('\n');
    const { queued, totals } = readPage(page);
    expect(queued).toEqual({ prefill: 4, decode: 0, aggregated: 0 });
    expect(totals.ttft).toEqual({ sumSeconds: 2, count: 4 });
    expect(totals).toMatchObject({ arrived: 9, finished: 3, promptTokens: 0 });
  });
});
