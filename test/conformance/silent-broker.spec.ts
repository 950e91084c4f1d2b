import { type BatonConfig, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { connectRedisTransport, type Transport, TransportUnavailable } from '@baton/transport';
import { WorkerHosts } from '@baton/engine-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../../apps/api/src/api-server';
import { PATIENT, PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';
import { STAGE_WAYS } from '../../libs/engine-host/test/stage-ways';

const MESSAGES = [{ role: 'user', content: 'Hello.' }];

/**
 * Longer than a stall of the machine, in which Redis is to answer. The deadline of a call is beyond
 * that of a test: only the silence can end one.
 */
const TIMES = { silenceMs: 3_500, callDeadlineMs: 600_000 };
/** No silence of Redis ends the presence of an engine, s. */
const PRESENCE_TTL = 600;

describe('an API whose Redis is silent', () => {
  let redis: PrivateRedis;
  let front: Transport;
  let back: Transport;
  let api: ApiServer;
  let workers: WorkerHosts;

  beforeAll(async () => {
    redis = await PrivateRedis.launch();
    const { url } = redis;
    const overrides: Partial<BatonConfig> = {
      topology: '1A',
      port: 0,
      stepTime: 'constant',
      enableAdmin: true,
      presenceTtl: PRESENCE_TTL,
    };
    const config = defaultConfig({ ...overrides, logLevel: 'silent' });
    const log = createLogger({ name: 'test', level: 'silent' });
    front = await connectRedisTransport({ url, times: TIMES });
    back = await connectRedisTransport({ url, times: PATIENT });
    workers = await WorkerHosts.start({
      stages: STAGE_WAYS,
      config,
      engines: { aggregated: 1 },
      transport: back,
      log,
    });
    api = await ApiServer.start({ config, transport: front, log });
    await waitUntil(async () => (await get('/health/ready')) === 200, { what: 'it is ready' });
  });

  afterAll(async () => {
    await api.stop();
    await workers.stop();
    await Promise.all([front.close(), back.close()]);
    await redis.close();
  });

  async function get(path: string): Promise<number> {
    return (await fetch(`${api.url}${path}`)).status;
  }

  async function post(path: string, body: unknown): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${api.url}${path}`, init)).status;
  }

  it.each([
    ['/v1/chat/completions', { messages: MESSAGES, max_tokens: 1 }],
    ['/v1/chat/completions', { messages: MESSAGES, max_tokens: 1, stream: true }],
    ['/v1/responses', { input: 'Hello.', max_output_tokens: 16, background: true }],
    ['/v1/conversations', {}],
    ['/v1/embeddings', { input: 'Hello.' }],
  ])('answers even the first %s with 503, and comes back: %j', async (path, body) => {
    expect(await post(path, body)).toBe(200);
    redis.freeze();
    expect(await post(path, body)).toBe(503);
    expect(await get('/health')).toBe(503);
    expect(await post(path, body)).toBe(503);
    await thaw();
    expect(await post(path, body)).toBe(200);
  });

  it.each([
    ['/metrics', 200],
    ['/admin/engines', 503],
  ])('answers even the first GET %s, with %i', async (path, status) => {
    expect(await get(path)).toBe(200);
    redis.freeze();
    expect(await get(path)).toBe(status);
    await thaw();
    expect(await get(path)).toBe(200);
  });

  it('does not wait to learn which API processes live', async () => {
    const { presence } = front;
    expect(await presence.aliveApis(['none'])).toEqual([false]);
    redis.freeze();
    await expect(presence.aliveApis(['none'])).rejects.toThrow(TransportUnavailable);
    await thaw();
  });

  async function thaw(): Promise<void> {
    redis.thaw();
    await waitUntil(async () => (await get('/health')) === 200, { what: 'Redis answers again' });
  }
});
