import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ClusterFixture } from '../../apps/api/test/cluster-fixture';
import { type Family, parseExposition } from '../../apps/api/test/exposition';
import { UNFILLED } from '../../apps/api/test/vllm-families';

const { VLLM_PYTHON = 'python3', VLLM_SOURCE = '', VLLM_VERSION = '' } = process.env;
/** That of the default model, where both end the buckets of tokens. */
const MAX_MODEL_LEN = 131_072;

interface VllmFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Null: it is no histogram. */
  readonly buckets: readonly number[] | null;
}

interface VllmMetrics {
  readonly families: readonly VllmFamily[];
  /** By family: the expressions that vLLM counts, observes or sets. */
  readonly rules: Readonly<Record<string, readonly string[]>>;
}

/** Read from loggers.py; the test checks that nothing of it has changed. */
const RULES: VllmMetrics['rules'] = {
  'vllm:num_requests_running': ['scheduler_stats.num_running_reqs'],
  'vllm:num_requests_waiting': ['total_waiting'],
  'vllm:num_requests_waiting_by_reason': [
    'scheduler_stats.num_waiting_reqs',
    'scheduler_stats.num_skipped_waiting_reqs',
  ],
  'vllm:kv_cache_usage_perc': ['scheduler_stats.kv_cache_usage'],
  'vllm:prefix_cache_queries': ['scheduler_stats.prefix_cache_stats.queries'],
  'vllm:prefix_cache_hits': ['scheduler_stats.prefix_cache_stats.hits'],
  'vllm:external_prefix_cache_queries': ['connector_stats.queries'],
  'vllm:external_prefix_cache_hits': ['connector_stats.hits'],
  'vllm:num_preemptions': ['iteration_stats.num_preempted_reqs'],
  'vllm:prompt_tokens': ['iteration_stats.num_prompt_tokens'],
  'vllm:prompt_tokens_by_source': ['pts.get_by_source(source)'],
  'vllm:prompt_tokens_cached': ['pts.cached_tokens'],
  'vllm:prompt_tokens_cached_by_source': ['scheduler_stats.prefix_cache_stats.hits', 'num_tokens'],
  'vllm:generation_tokens': ['iteration_stats.num_generation_tokens'],
  'vllm:iteration_tokens_total': [
    'iteration_stats.prompt_token_stats.computed + iteration_stats.num_generation_tokens',
  ],
  'vllm:request_success': ['1'],
  'vllm:request_prompt_tokens': ['finished_request.num_prompt_tokens'],
  'vllm:request_generation_tokens': ['finished_request.num_generation_tokens'],
  'vllm:request_max_num_generation_tokens': ['max_gen_tokens'],
  'vllm:request_params_n': ['n_param'],
  'vllm:request_params_max_tokens': ['finished_request.max_tokens_param'],
  'vllm:request_num_preemptions': ['finished_request.num_preemptions'],
  'vllm:request_prefill_kv_computed_tokens': ['prefill_kv_computed'],
  'vllm:time_to_first_token_seconds': ['ttft'],
  'vllm:inter_token_latency_seconds': ['itl'],
  'vllm:request_time_per_output_token_seconds': ['finished_request.mean_time_per_output_token'],
  'vllm:e2e_request_latency_seconds': ['finished_request.e2e_latency'],
  'vllm:request_queue_time_seconds': ['finished_request.queued_time'],
  'vllm:request_prefill_time_seconds': ['finished_request.prefill_time'],
  'vllm:request_inference_time_seconds': ['finished_request.inference_time'],
  'vllm:request_decode_time_seconds': ['finished_request.decode_time'],
};

/** Families of other files: NIXL connector, speculation, offloading, cache configuration. */
const ELSEWHERE = /^vllm:(nixl_|spec_decode_|kv_offload_|cache_config_info)/;

function shownName({ name, type }: VllmFamily): string {
  return type === 'counter' ? `${name}_total` : name;
}

function isUnfilled(name: string): boolean {
  const bare = name.slice('vllm:'.length);
  return UNFILLED.some((each) =>
    each.endsWith('*') ? bare.startsWith(each.slice(0, -1)) : bare === each,
  );
}

describe(`the metrics beside those of vLLM ${VLLM_VERSION}`, () => {
  let theirs: VllmMetrics;
  let ours: Map<string, Family>;

  beforeAll(async () => {
    const script = join(__dirname, 'families.py');
    const printed = execFileSync(VLLM_PYTHON, [script, VLLM_SOURCE, String(MAX_MODEL_LEN)]);
    theirs = JSON.parse(printed.toString()) as VllmMetrics;
    const features = { vllmVersion: VLLM_VERSION, enableLora: true };
    const cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, features);
    ours = parseExposition(await (await fetch(`${cluster.api.url}/metrics`)).text());
    await cluster.stop();
  });

  test('are all that it has, but for those that docs/metrics.md names', () => {
    const names = theirs.families.filter(({ name }) => !isUnfilled(name)).map(shownName);
    expect(names.length).toBeGreaterThan(30);
    const shown = [...ours.keys()].filter(
      (name) => name.startsWith('vllm:') && !ELSEWHERE.test(name),
    );
    expect(shown.sort()).toEqual(names.sort());
  });

  test('have its types, texts, labels and buckets', () => {
    const families = theirs.families.filter(({ name }) => !isUnfilled(name));
    for (const their of families) {
      const { name, type, help, labels, buckets } = their;
      const family = ours.get(shownName(their))!;
      expect(family, name).toMatchObject({ type, help });
      const { samples } = family;
      expect(samples.length, name).toBeGreaterThan(0);
      // The LoRA gauge takes the names of its labels from attributes.
      if (name === 'vllm:lora_requests_info') continue;
      for (const sample of samples) {
        const { le: _le, ...own } = sample.labels;
        expect(Object.keys(own).sort(), name).toEqual([...labels].sort());
      }
      const bounds = samples.flatMap(({ labels: { le } }) => (le === undefined ? [] : [le]));
      const numbers = [...new Set(bounds)].filter((le) => le !== '+Inf').map(Number);
      expect(numbers, name).toEqual(buckets ?? []);
    }
  });

  test('count by the rules of its `record`', () => {
    const filled = Object.entries(theirs.rules).filter(([name]) => !isUnfilled(name));
    expect(Object.fromEntries(filled)).toEqual(RULES);
  });
});
