import { Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import { connect, Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { attachInProcess, channels, InProcessHub, type Transport } from '@baton/transport';
import { defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../test/until';
import { FakeEngine } from '../test/fake-engine';
import { ApiServer } from './api-server';

/** An image that does not fit into the buffers of a connection, and can be stored. */
const PIXELS = 'A'.repeat(3_500_000);
const BEGUN = ['hears frames', 'announced', 'listens'];

/** The broker calls that make a process appear and disappear, in the order in which they end. */
function watched(transport: Transport, seen: string[]): Transport {
  const bus: Transport['bus'] = Object.create(transport.bus) as Transport['bus'];
  bus.subscribe = async (channel, listener) => {
    const end = await transport.bus.subscribe(channel, listener);
    const isFrames = channel.startsWith(channels.api(''));
    if (isFrames) seen.push('hears frames');
    return async () => {
      if (isFrames) seen.push('hears no frames');
      await end();
    };
  };
  const presence: Transport['presence'] = Object.create(
    transport.presence,
  ) as Transport['presence'];
  presence.announceApi = (apiId, ttlMs) => {
    if (!seen.includes('announced')) seen.push('announced');
    return transport.presence.announceApi(apiId, ttlMs);
  };
  presence.removeApi = (apiId) => {
    seen.push('removed');
    return transport.presence.removeApi(apiId);
  };
  return Object.create(transport, {
    bus: { value: bus },
    presence: { value: presence },
  }) as Transport;
}

describe('the life of an API process', () => {
  const hub = new InProcessHub();
  const log = createLogger({ name: 'api', level: 'silent' });
  let engine: FakeEngine | undefined;

  afterEach(async () => {
    vi.restoreAllMocks();
    await engine?.stop();
  });

  it('receives frames, announces itself, and only then listens; ends requests before all else', async () => {
    const seen: string[] = [];
    engine = await FakeEngine.start(hub);
    const config = defaultConfig({ topology: '1A', port: 0, logLevel: 'silent' });
    const transport = watched(attachInProcess(hub), seen);
    const { listen } = Server.prototype;
    vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args) {
      if (this instanceof HttpServer) seen.push('listens');
      return Reflect.apply(listen, this, args);
    });
    const api = await ApiServer.start({ config, transport, log });
    expect(seen).toEqual(BEGUN);

    const answer = fetch(`${api.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'a b c', max_tokens: 2, stream: true }),
    }).then((response) => response.text());
    const run = await engine.next();
    const stopped = api.stop();
    await until(async () => (await fetch(`${api.url}/health`)).status === 503);
    expect(seen).toEqual(BEGUN);
    seen.push('engine plays');
    await run.play();
    expect(await answer).toContain('[DONE]');
    await stopped;
    expect(seen.slice(0, 4)).toEqual([...BEGUN, 'engine plays']);
    expect(seen.slice(4).sort()).toEqual(['hears no frames', 'removed']);
    await expect(fetch(`${api.url}/health`)).rejects.toThrow();
  });

  it('sends a long answer whole before it ends', async () => {
    engine = await FakeEngine.start(hub, { isEager: true });
    const config = defaultConfig({ topology: '1A', port: 0, logLevel: 'silent' });
    const api = await ApiServer.start({ config, transport: attachInProcess(hub), log });
    const stored = `${api.url}/v1/chat/completions`;
    const long = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXELS}` } };
    const made = await fetch(stored, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: config.model,
        max_tokens: 1,
        store: true,
        messages: [{ role: 'user', content: [long] }],
      }),
    });
    const { id } = (await made.json()) as { id: string };

    const slow = connect(Number(new URL(api.url).port), '127.0.0.1').pause();
    slow.write(`GET /v1/chat/completions/${id}/messages HTTP/1.1\r\nhost: a\r\n\r\n`);
    await once(slow, 'readable');
    const stopped = api.stop();
    await until(async () => (await fetch(`${api.url}/health`)).status === 503);
    const answer = await buffer(slow);
    await stopped;
    const [head = '', body = ''] = answer.toString().split('\r\n\r\n');
    expect(body).toHaveLength(Number(/content-length: (\d+)/i.exec(head)?.[1]));
    expect(body).toContain(PIXELS);
  });
});
