import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { checkUpstreams } from '@baton/engine-host';
import { afterEach, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { decodes, ScriptedServer } from '../../../test/scripted-server';
import { until } from '../../../test/until';

const pem = (name: string): string => join(__dirname, '../../../test/certificates', name);
const read = (name: string): string => readFileSync(pem(name), 'utf8');
const BODY = { prompt: 'x', max_tokens: 2 };

describe('upstream servers that speak TLS', () => {
  let cluster: ClusterFixture | undefined;
  let server: ScriptedServer | undefined;

  afterEach(async () => {
    await cluster?.stop();
    await server?.stop();
    cluster = undefined;
  });

  async function start(certificate: string, config: Partial<BatonConfig>): Promise<void> {
    const tls = { key: read(`${certificate}.key`), cert: read(`${certificate}.pem`) };
    server = await ScriptedServer.start(decodes, tls);
    const executing = { executor: 'vllm', aggregatedUrl: [server.url], ...config } as const;
    cluster = await ClusterFixture.start({ aggregated: 1 }, executing);
  }

  it('are used when a configured authority has signed their certificate', async () => {
    await start('first', { upstreamCa: pem('authority.pem') });
    expect((await cluster!.post(BODY)).status).toBe(200);
    expect(server!.seen).toHaveLength(1);
  });

  it.each([
    ['nobody', 'first', {}],
    ['another authority', 'stranger', { upstreamCa: pem('authority.pem') }],
  ])('are not asked when %s vouches for them', async (_who, certificate, config) => {
    await start(certificate, { ...config, engineGrace: 0.2 });
    await until(async () =>
      (await cluster!.engines()).every(
        ({ gauges, state }) => gauges.upstreamUp === 0 && state === 'starting',
      ),
    );
    await until(async () => (await cluster!.post(BODY)).status === 503);
    expect(server!.seen).toHaveLength(0);
  });

  it.each([
    ['nowhere.pem', /upstream_ca: .* cannot be read/],
    ['first.key', /upstream_ca: .* holds no certificate in PEM/],
  ])('are not named with %s as authority', (name, message) => {
    const config = defaultConfig({ executor: 'vllm', aggregatedUrl: ['https://a:1'] });
    const check = (upstreamCa: string | undefined): void =>
      checkUpstreams({ ...config, upstreamCa }, 'aggregated', 1);
    expect(() => check(undefined)).not.toThrow();
    expect(() => check(pem(name))).toThrow(message);
  });
});

describe('invalid server addresses', () => {
  it.each([
    [{ prefillUrl: ['ftp://a'] }, /prefill_url: `ftp:\/\/a` is not an http or https URL/],
    [{ prefillUrl: ['http://a/v1'] }, /not an http or https URL without a path/],
    [{ prefillUrl: [] }, /1 prefill engines need as many prefill_url/],
    [{ prefillUrl: ['http://a'], dataParallelSize: 2 }, /data_parallel_size must be 1/],
    [{ prefillUrl: ['http://a'], prefillBootstrapPort: ['0'] }, /`0` is not a port/],
    [{ prefillUrl: ['http://a'], prefillBootstrapPort: ['1', '2'] }, /2 ports for 1 prefill/],
  ])('end with one sentence: %j', (config, message) => {
    const whole = defaultConfig({ executor: 'vllm', ...config });
    expect(() => checkUpstreams(whole, 'prefill', 1)).toThrow(message);
  });
});
