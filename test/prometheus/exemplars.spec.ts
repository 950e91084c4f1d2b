import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { post } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { PrometheusServer } from '../support/prometheus-server';
import { waitUntil } from '../support/wait';

const CONFIG = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url));

const PATIENT = { timeout: 60_000 };

interface Exemplars {
  readonly exemplars: readonly { readonly labels: { readonly trace_id?: string } }[];
}

describe('Prometheus beside a cluster with traces', () => {
  let cluster: TestCluster;
  let prometheus: PrometheusServer;

  afterEach(async () => {
    await prometheus.stop();
    await cluster.stop();
  });

  it('keeps a trace of a latency, and the names of the other families', async () => {
    // Nothing listens there: spans are dropped.
    const flags = [...PLAIN_STEPS, '--otlp-traces-endpoint=http://127.0.0.1:9'];
    cluster = await TestCluster.start({ topology: '1P1D', flags });
    const targets = { baton: [`127.0.0.1:${cluster.port}`] };
    prometheus = await PrometheusServer.start({ config: CONFIG, targets });
    const answer = await post(`${cluster.baseUrl}/v1/completions`, { prompt: 'x', max_tokens: 4 });
    expect(answer.status).toBe(200);
    await answer.text();
    const query = encodeURIComponent('vllm:e2e_request_latency_seconds_bucket');
    const now = Date.now() / 1_000;
    const path = `query_exemplars?query=${query}&start=${now - 600}&end=${now + 600}`;
    const traces = async (): Promise<string[]> =>
      (await prometheus.get<readonly Exemplars[]>(path)).flatMap(({ exemplars }) =>
        exemplars.map(({ labels }) => labels.trace_id ?? ''),
      );
    await waitUntil(async () => (await traces()).length > 0, { what: 'an exemplar is there' });
    for (const trace of await traces()) expect(trace).toMatch(/^[0-9a-f]{32}$/);
    // A process that is stopped for a second misses a scrape: its series end until the next one.
    const valuesOf = async (query: string): Promise<string[]> =>
      (await prometheus.query(query)).map(({ value }) => value[1]);
    const success = 'sum(vllm:request_success_total{job="baton"})';
    await expect.poll(() => valuesOf(success), PATIENT).toEqual(['1']);
    await expect.poll(() => valuesOf('up{job="baton"}'), PATIENT).toEqual(['1']);
  });
});
