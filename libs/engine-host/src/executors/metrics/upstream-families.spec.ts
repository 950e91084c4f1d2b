import { type BatonConfig, defaultConfig } from '@baton/config';
import type { EnginePresence, EngineReport } from '@baton/contract';
import { exposed, parsePage } from '@baton/telemetry';
import { describe, expect, it } from 'vitest';
import { withUpstreamFamilies } from './upstream-families';

const OWN = `# HELP vllm:num_requests_running Ours.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 0
vllm:num_requests_running{engine="1",model_name="m"} 3
# HELP vllm:e2e_request_latency_seconds Latency.
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{le="+Inf",engine="0",model_name="m"} 4
vllm:e2e_request_latency_seconds_sum{engine="0",model_name="m"} 2.5
vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 4
# HELP baton:engine_ready Ready.
# TYPE baton:engine_ready gauge
baton:engine_ready{engine="0",model_name="m"} 1
`;

const SERVER = `# HELP python_gc_objects_collected_total Objects.
# TYPE python_gc_objects_collected_total counter
python_gc_objects_collected_total{generation="0"} 1
# HELP baton:engine_ready Ready.
# TYPE baton:engine_ready gauge
baton:engine_ready{engine="0"} 1
# HELP vllm:num_requests_running Theirs.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="real \\"7B\\", v1"} 2.0
# HELP vllm:prompt_tokens_total Tokens.
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="real"} 1.5e+06 1700000000000
not a line
vllm:orphan{engine="0"} 1
`;

const CONFIG: BatonConfig = defaultConfig({ executor: 'vllm', upstreamMetricsInterval: 1 });

function reportOf(index: number, page: string): EngineReport {
  return { presence: { index, stage: 'aggregated' } as EnginePresence, page };
}

/** The page of our own families beside these servers. */
function pageOf(
  own: string,
  reports: readonly EngineReport[],
  config: BatonConfig = CONFIG,
): Promise<string> {
  return exposed(withUpstreamFamilies([parsePage(own)], reports, config));
}

describe('metrics of upstream servers', () => {
  it('replace simulated ones, under the engine’s number', async () => {
    const page = await pageOf(OWN, [reportOf(0, SERVER)]);
    const lines = page.split('\n');
    expect(lines.filter((line) => line.startsWith('vllm:num_requests_running'))).toEqual([
      'vllm:num_requests_running{engine="1",model_name="m"} 3',
      'vllm:num_requests_running{engine="0",model_name="real \\"7B\\", v1"} 2',
    ]);
    expect(lines).toContain('vllm:prompt_tokens_total{engine="0",model_name="real"} 1500000');
    expect(lines).toContain('vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 4');
    expect(page).not.toMatch(/python_|orphan|not a line|Theirs/);
  });

  it('contain each family once', async () => {
    const page = await pageOf(
      OWN,
      [0, 1].map((index) => reportOf(index, SERVER)),
    );
    const types = page.split('\n').filter((line) => line.startsWith('# TYPE'));
    expect(new Set(types).size).toBe(types.length);
    const samples = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(new Set(samples.map((line) => line.replace(/ \S+$/, ''))).size).toBe(samples.length);
  });

  it('leave no simulated metrics of an engine whose server does not answer', async () => {
    const page = await pageOf(OWN, [reportOf(0, '')]);
    expect(page).not.toContain('vllm:num_requests_running{engine="0"');
    expect(page).toContain('vllm:e2e_request_latency_seconds_count{engine="0"');
    expect(page).toContain('baton:engine_ready{engine="0"');
  });

  it('keep several engines of one server separate', async () => {
    const head = '# HELP vllm:x X.\n# TYPE vllm:x gauge\n';
    const two = `${head}vllm:x{engine="0"} 1\nvllm:x{engine="1"} 2\n`;
    expect(await pageOf('', [reportOf(7, two)])).toBe(
      `${head}vllm:x{engine="7",exported_engine="0"} 1\nvllm:x{engine="7",exported_engine="1"} 2\n`,
    );
  });

  it('leave out a family with another type in Baton', async () => {
    const other = SERVER.replace('running gauge', 'running counter');
    expect(await pageOf(OWN, [reportOf(5, other)])).not.toContain(
      'vllm:num_requests_running{engine="5"',
    );
  });

  it('are not shown with an interval of 0', async () => {
    const page = await pageOf(OWN, [reportOf(0, SERVER)], {
      ...CONFIG,
      upstreamMetricsInterval: 0,
    });
    expect(page).toContain('vllm:num_requests_running{engine="0",model_name="m"} 0');
    expect(page).not.toContain('vllm:prompt_tokens_total');
  });
});
