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
