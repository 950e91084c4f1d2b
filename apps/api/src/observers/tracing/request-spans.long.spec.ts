import { tracesUrl } from '@baton/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { type CollectedSpan, OtlpCollector } from '../../../test/otlp-collector';

const BODY = { prompt: 'who runs first, and who runs last?', max_tokens: 6, ignore_eos: true };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

describe('spans of a request', () => {
  let collector: OtlpCollector;
  let cluster: ClusterFixture | undefined;

  beforeEach(async () => {
    collector = await OtlpCollector.start();
  });
  afterEach(async () => {
    await cluster?.stop();
    await collector.stop();
  });

  /** The spans collected by the time the cluster has ended. */
  async function traced(
    roles: Parameters<typeof ClusterFixture.start>[0],
    headers: Record<string, string> = {},
    body: object = BODY,
  ): Promise<readonly CollectedSpan[]> {
    cluster = await ClusterFixture.start(roles, { otlpTracesEndpoint: collector.url });
    const answer = await cluster.post(body, headers);
    await answer.text();
    await cluster.stop();
    cluster = undefined;
    return collector.spans;
  }

  it('are one trace over API, prefill, transfer and decode', async () => {
    const spans = await traced({ prefill: 1, decode: 1 });
    const byName = new Map(spans.map((span) => [span.name, span]));
    expect([...byName.keys()].sort()).toEqual(['decode', 'kv_transfer', 'llm_request', 'prefill']);
    const root = byName.get('llm_request')!;
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(root.parentId).toBe('');
    const engineOf = (name: string) => byName.get(name)?.attributes['baton.engine.name'];
    expect(['prefill', 'decode'].map(engineOf)).toEqual(['P0', 'D0']);
    expect(byName.get('prefill')?.parentId).toBe(root.spanId);
    expect(byName.get('decode')?.parentId).toBe(root.spanId);
    expect(byName.get('kv_transfer')?.parentId).toBe(byName.get('decode')?.spanId);
    for (const { startNs, endNs } of spans) expect(endNs).toBeGreaterThanOrEqual(startNs);
    expect(new Set(collector.paths)).toEqual(new Set(['/v1/traces']));
  });

  it('have the attributes of vLLM’s spans', async () => {
    const spans = await traced({ aggregated: 1 }, {}, { ...BODY, temperature: 0.5, n: 2 });
    expect(spans.filter(({ name }) => name === 'aggregated')).toHaveLength(2);
    const { attributes } = spans.find(({ name }) => name === 'llm_request')!;
    expect(attributes).toMatchObject({
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 6,
      'gen_ai.request.n': 2,
      'gen_ai.usage.num_sequences': 2,
      'gen_ai.usage.completion_tokens': 12,
    });
    for (const name of ['time_in_queue', 'time_to_first_token', 'e2e', 'time_in_model_prefill']) {
      expect(attributes[`gen_ai.latency.${name}`]).toBeGreaterThanOrEqual(0);
    }
  });

  it('are children of the client’s span', async () => {
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
    const spans = await traced({ aggregated: 1 }, headers);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(spans.find(({ name }) => name === 'llm_request')?.parentId).toBe(CALLER);
  });

  it.each([
    'nonsense',
    `00-${'0'.repeat(32)}-${CALLER}-01`,
    `ff-${TRACE}-${CALLER}-01`,
    `00-${TRACE}-${CALLER}`,
  ])('begin a trace of their own under the header %s', async (traceparent) => {
    const spans = await traced({ aggregated: 1 }, { traceparent });
    expect(spans.find(({ name }) => name === 'llm_request')?.parentId).toBe('');
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('do not keep a process running when the collector is gone', async () => {
    const dead = collector.url;
    await collector.stop();
    collector = await OtlpCollector.start();
    cluster = await ClusterFixture.start({ aggregated: 1 }, { otlpTracesEndpoint: dead });
    expect((await cluster.post(BODY)).status).toBe(200);
    await cluster.stop();
    cluster = undefined;
  });
});

describe('the page of metrics', () => {
  const OPEN = 'application/openmetrics-text';
  const SCRAPE = { accept: `${OPEN};version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3` };

  /** The answer to a scrape after one request with a trace of the client. */
  async function scraped(
    config: Parameters<typeof ClusterFixture.start>[1],
    headers: Record<string, string>,
    flags = '01',
  ): Promise<{ type: string | null; page: string }> {
    const cluster = await ClusterFixture.start({ aggregated: 1 }, config);
    try {
      await (await cluster.post(BODY, { traceparent: `00-${TRACE}-${CALLER}-${flags}` })).text();
      const answer = await fetch(`${cluster.api.url}/metrics`, { headers });
      return { type: answer.headers.get('content-type'), page: await answer.text() };
    } finally {
      await cluster.stop();
    }
  }

  const traced = { otlpTracesEndpoint: 'http://127.0.0.1:9' };

  it('names in OpenMetrics a trace of each latency, and counters without a second suffix', async () => {
    const { type, page } = await scraped(traced, SCRAPE);
    expect(type).toContain(OPEN);
    expect(page).toMatch(/\n# EOF\n$/);
    for (const name of [
      'time_to_first_token',
      'e2e_request_latency',
      'request_time_per_output_token',
    ])
      expect(page).toMatch(
        new RegExp(
          `^vllm:${name}_seconds_bucket\\{.*\\} 1 # \\{trace_id="${TRACE}"\\} [\\d.]+ [\\d.]+$`,
          'm',
        ),
      );
    expect(page).toMatch(/^# TYPE vllm:request_success counter$/m);
    expect(page).toMatch(/^vllm:request_success_total\{.*finished_reason="length".*\} 1$/m);
    expect(page).not.toContain('_total_total');
  });

  it('names no trace that is not recorded', async () => {
    expect((await scraped(traced, SCRAPE, '00')).page).not.toContain('trace_id');
  });

  it.each([
    ['of a client that does not ask for OpenMetrics', traced, {}],
    ['of a cluster without traces', {}, SCRAPE],
  ])('is the text format of Prometheus for a scrape %s', async (_case, config, headers) => {
    const { type, page } = await scraped(config, headers);
    expect(type).toContain('text/plain; version=0.0.4');
    expect(page).not.toMatch(/trace_id|# EOF/);
    expect(page).toContain('# TYPE vllm:request_success_total counter');
  });
});

describe('the endpoint of traces', () => {
  it.each([
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://x/otlp/v1/traces', 'https://x/otlp/v1/traces'],
  ])('%s means %s', (endpoint, url) => {
    expect(tracesUrl(endpoint)).toBe(url);
  });

  it.each(['collector:4318', 'ftp://x', ''])('is refused as `%s`', (endpoint) => {
    expect(() => tracesUrl(endpoint)).toThrow('otlp_traces_endpoint');
  });
});
