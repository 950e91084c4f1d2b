import { describe, expect, it } from 'vitest';
import { parsePage, renderPage } from '@baton/telemetry';
import { engineFamilies, withUpstreamPages } from './upstream-page';

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

const isSimulated = (name: string): boolean => name === 'vllm:num_requests_running';

describe('metrics of upstream servers', () => {
  const families = engineFamilies(SERVER);

  it('replace simulated ones, under the engine’s number', () => {
    const page = withUpstreamPages(OWN, [{ labels: { engine: '0' }, families }], isSimulated);
    const lines = page.split('\n');
    expect(lines.filter((line) => line.startsWith('vllm:num_requests_running'))).toEqual([
      'vllm:num_requests_running{engine="1",model_name="m"} 3',
      'vllm:num_requests_running{engine="0",model_name="real \\"7B\\", v1"} 2.0',
    ]);
    expect(lines).toContain('vllm:prompt_tokens_total{engine="0",model_name="real"} 1.5e+06');
    expect(lines).toContain('vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 4');
    expect(page).not.toMatch(/python_|orphan|not a line|Theirs/);
  });

  it('contain each family once', () => {
    const upstreams = ['0', '1'].map((engine) => ({ labels: { engine }, families }));
    const page = withUpstreamPages(OWN, upstreams, isSimulated);
    const types = page.split('\n').filter((line) => line.startsWith('# TYPE'));
    expect(new Set(types).size).toBe(types.length);
    const samples = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(new Set(samples.map((line) => line.replace(/ \S+$/, ''))).size).toBe(samples.length);
  });

  it('leave no simulated metrics of an engine whose server does not answer', () => {
    const page = withUpstreamPages(OWN, [{ labels: { engine: '0' }, families: [] }], isSimulated);
    expect(page).not.toContain('vllm:num_requests_running{engine="0"');
    expect(page).toContain('vllm:e2e_request_latency_seconds_count{engine="0"');
    expect(page).toContain('baton:engine_ready{engine="0"');
  });

  it('keep several engines of one server separate', () => {
    const head = '# HELP vllm:x X.\n# TYPE vllm:x gauge\n';
    const two = engineFamilies(`${head}vllm:x{engine="0"} 1\nvllm:x{engine="1"} 2\n`);
    const page = withUpstreamPages('', [{ labels: { engine: '7' }, families: two }], isSimulated);
    expect(page).toBe(
      `${head}vllm:x{engine="7",exported_engine="0"} 1\nvllm:x{engine="7",exported_engine="1"} 2\n`,
    );
  });

  it('leave out a family with another type in Baton', () => {
    const other = engineFamilies(SERVER.replace('running gauge', 'running counter'));
    const page = withUpstreamPages(
      OWN,
      [{ labels: { engine: '5' }, families: other }],
      isSimulated,
    );
    expect(page).not.toContain('vllm:num_requests_running{engine="5"');
  });

  it('are unchanged by reading and writing', () => {
    expect(renderPage(parsePage(OWN))).toBe(OWN);
  });
});
