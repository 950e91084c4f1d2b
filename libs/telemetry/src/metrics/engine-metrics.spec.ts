import { type BatonConfig, defaultConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { engineFamilies } from './engine-metrics';
import { EngineStats } from './engine-stats';
import { exposed } from './registry';

function presence(index: number, stats: EngineStats): EnginePresence {
  return {
    engineId: `engine-${index}`,
    stage: 'decode',
    index,
    name: `D${index}`,
    pid: 1,
    host: 'here',
    model: 'm',
    state: 'ready',
    gauges: {
      running: 3,
      waitingCapacity: 2,
      waitingDeferred: 1,
      kvUsage: 0.25,
      heldBlocks: 0,
      numBlocks: 100,
      clockLagMs: 0.5,
      stepMs: 0,
    },
    counters: stats.counters(),
    histograms: stats.histograms(),
  };
}

const render = (presences: EnginePresence[], config: Partial<BatonConfig> = {}): Promise<string> =>
  exposed([engineFamilies(presences, { config: defaultConfig(config), maxModelLen: 1_000 })]);

const blocks = 'nv_trt_llm_kv_cache_block_metrics{engine="0",model_name="m",kv_cache_block_type=';

describe('engine metrics', () => {
  it("show vLLM's families with its label set, one series per engine", async () => {
    const stats = new EngineStats();
    stats.add('generation_tokens', 7);
    const text = await render([presence(0, stats), presence(1, new EngineStats())]);
    expect(text).toContain('vllm:num_requests_running{engine="0",model_name="m"} 3');
    expect(text).toContain('vllm:num_requests_waiting{engine="0",model_name="m"} 3');
    expect(text).toContain(
      'vllm:num_requests_waiting_by_reason{engine="1",model_name="m",reason="deferred"} 1',
    );
    expect(text).toContain('vllm:generation_tokens_total{engine="0",model_name="m"} 7');
    expect(text).toContain('vllm:generation_tokens_total{engine="1",model_name="m"} 0');
  });

  it('have the longest recent pause of a process as baton:starved_seconds', async () => {
    const { gauges, ...late } = presence(0, new EngineStats());
    const text = await render([
      { ...late, gauges: { ...gauges, latenessMs: 1_500 } },
      presence(1, new EngineStats()),
    ]);
    expect(text).toContain('baton:starved_seconds{engine="0",model_name="m"} 1.5\n');
    expect(text).toContain('baton:starved_seconds{engine="1",model_name="m"} 0\n');
  });

  it('have cumulative buckets, sum and count', async () => {
    const stats = new EngineStats();
    for (const tokens of [1, 9, 9, 20_000]) stats.observe('iteration_tokens_total', tokens);
    const text = await render([presence(0, stats)]);
    const series = '{engine="0",model_name="m"';
    expect(text).toContain(`vllm:iteration_tokens_total_bucket${series},le="8.0"} 1`);
    expect(text).toContain(`vllm:iteration_tokens_total_bucket${series},le="16.0"} 3`);
    expect(text).toContain(`vllm:iteration_tokens_total_bucket${series},le="+Inf"} 4`);
    expect(text).toContain(`vllm:iteration_tokens_total_sum${series}} 20019`);
    expect(text).toContain(`vllm:iteration_tokens_total_count${series}} 4`);
  });

  it('show the step-time model only of engines that simulate steps', async () => {
    const stepTimes = { method: 'composed', description: 'of h200_sxm' };
    const simulated = { ...presence(1, new EngineStats()), stepTimes };
    const text = await render([presence(0, new EngineStats()), simulated]);
    const lines = text.split('\n').filter((line) => line.startsWith('baton:step_time_info'));
    expect(lines).toEqual([
      'baton:step_time_info{engine="1",model_name="m",stage="decode",method="composed"' +
        ',description="of h200_sxm"} 1',
    ]);
    expect(text).not.toMatch(/^baton:step_farthest_outside_range_ratio\{/m);
  });

  it('show drafts only of engines that make them', async () => {
    const drafting = { ...presence(1, new EngineStats()) };
    const counters = {
      ...drafting.counters,
      spec_decode_num_drafts: 4,
      spec_decode_num_accepted_tokens_per_pos_0: 3,
      spec_decode_num_accepted_tokens_per_pos_1: 2,
    };
    const text = await render([presence(0, new EngineStats()), { ...drafting, counters }]);
    const lines = text.split('\n').filter((line) => line.startsWith('vllm:spec_decode'));
    const series = 'engine="1",model_name="m"';
    expect(lines).toEqual([
      `vllm:spec_decode_num_drafts_total{${series}} 4`,
      `vllm:spec_decode_num_accepted_tokens_per_pos_total{${series},position="0"} 3`,
      `vllm:spec_decode_num_accepted_tokens_per_pos_total{${series},position="1"} 2`,
    ]);
  });

  it.each([
    [
      'sglang' as const,
      [
        'sglang:num_queue_reqs{engine="0",model_name="m"} 3',
        'sglang:num_running_reqs{engine="0",model_name="m"} 3',
        'sglang:token_usage{engine="0",model_name="m"} 0.25',
        'sglang:cache_config_info{engine="0",model_name="m",page_size="16",num_pages="100"} 1',
        'sglang:page_size{engine="0",model_name="m"} 16',
        'sglang:num_pages{engine="0",model_name="m"} 100',
        'sglang:max_total_num_tokens{engine="0",model_name="m"} 1600',
      ],
    ],
    [
      'trtllm' as const,
      [
        'trtllm_num_requests_waiting{engine="0",model_name="m"} 3',
        'trtllm_num_requests_running{engine="0",model_name="m"} 3',
        'trtllm_kv_cache_utilization{engine="0",model_name="m"} 0.25',
        'trtllm_kv_cache_tokens_per_block{engine="0",model_name="m"} 16',
        'trtllm_kv_cache_max_blocks{engine="0",model_name="m"} 100',
        'nv_trt_llm_request_metrics{engine="0",model_name="m",request_type="waiting"} 3',
        'nv_trt_llm_request_metrics{engine="0",model_name="m",request_type="scheduled"} 3',
        `${blocks}"fraction"} 0.25`,
        `${blocks}"tokens_per"} 16`,
        `${blocks}"max"} 100`,
      ],
    ],
  ])("have the names of %s beside vLLM's when asked for", async (flavour, series) => {
    const presences = [presence(0, new EngineStats())];
    const usual = (await render(presences)).split('\n');
    const page = await render(presences, { metricsFlavour: flavour });
    const lines = page.split('\n');
    const added = lines.filter((line) => !usual.includes(line) && !line.startsWith('#'));
    expect(added).toEqual(series);
    expect(usual.filter((line) => !lines.includes(line))).toEqual([]);
  });

  it('name the cache configuration, without a model name', async () => {
    const text = await render([presence(0, new EngineStats())]);
    const info = text.split('\n').find((line) => line.startsWith('vllm:cache_config_info{'));
    expect(info).toContain('kv_cache_size_tokens="1616"');
    expect(info).toContain('kv_cache_max_concurrency="1.616"');
    expect(info).not.toContain('model_name');
  });

  it('describe each family even before there is an engine', async () => {
    const text = await render([]);
    expect(text).toContain('# TYPE vllm:iteration_tokens_total histogram');
    expect(text).toContain('# TYPE vllm:prompt_tokens_by_source_total counter');
  });
});
