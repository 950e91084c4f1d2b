import { afterEach, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { parseExposition, sumOf } from '../../../test/exposition';
import { decodes, ScriptedServer } from '../../../test/scripted-server';
import { until } from '../../../test/until';

let cluster: ClusterFixture;
let server: ScriptedServer;

afterEach(async () => {
  await cluster.stop();
  await server.stop();
});

const page = (running: number): string => `# HELP vllm:num_requests_running Theirs.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="real"} ${running}
# HELP vllm:e2e_request_latency_seconds Theirs.
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf",model_name="real"} 5
vllm:e2e_request_latency_seconds_sum{engine="0",model_name="real"} 2
vllm:e2e_request_latency_seconds_count{engine="0",model_name="real"} 5
`;

async function start(interval: number): Promise<void> {
  server = await ScriptedServer.start(decodes);
  server.shows('/metrics', page(41));
  const urls = { executorFor: ['decode=vllm'], decodeUrl: [server.url] };
  const config = { ...urls, upstreamMetricsInterval: interval };
  cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, config);
  await (await cluster.post({ prompt: 'x', max_tokens: 2 })).text();
}

const running = (): Promise<number> =>
  cluster.metric('vllm:num_requests_running', { model_name: 'real' });

it('shows the counters of servers in place of simulated ones, and none of silent servers', async () => {
  await start(0.05);
  await until(async () => (await running()) === 41);
  server.shows('/metrics', page(42));
  await until(async () => (await running()) === 42);
  const text = await (await fetch(`${cluster.api.url}/metrics`)).text();
  const families = parseExposition(text);
  const decode = { engine: '1' };
  const e2e = 'vllm:e2e_request_latency_seconds_count';
  expect(sumOf(families, e2e, decode)).toBe(5);
  expect(
    families.get('vllm:kv_cache_usage_perc')?.samples.map(({ labels }) => labels),
  ).toMatchObject([{ engine: '0' }]);
  expect(sumOf(families, 'baton:upstream_up', decode)).toBe(1);
  server.shows('/metrics', 'x'.repeat(5 * 1024 * 1024));
  await until(async () => (await running()) === 0);
  expect(await cluster.metric(e2e, decode)).toBe(1);
});

it('shows Baton’s own counters when servers are not scraped', async () => {
  await start(0);
  expect(await running()).toBe(0);
  expect(await cluster.metric('vllm:e2e_request_latency_seconds_count', { engine: '1' })).toBe(1);
  expect(await cluster.metric('baton:engine_ready')).toBe(2);
});
