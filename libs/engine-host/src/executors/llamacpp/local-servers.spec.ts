import { type BatonConfig, configForStage, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, InProcessHub } from '@baton/transport';
import { beforeEach, describe, expect, it } from 'vitest';
import type { LocalServer, LocalServerOptions, Peer } from './local-server';
import { LocalServers } from './local-servers';

describe('servers with a local model', () => {
  let hub: InProcessHub;
  let started: (LocalServer & Pick<LocalServerOptions, 'isPeer' | 'servedModel'>)[];
  let closed: string[];

  beforeEach(() => {
    hub = new InProcessHub();
    started = [];
    closed = [];
  });

  function serversOf(overrides: Partial<BatonConfig>): LocalServers {
    const config = defaultConfig(overrides);
    const log = createLogger({ name: 'test', level: 'silent' });
    const transport = attachInProcess(hub);
    return new LocalServers({ config, transport, log }, (_config, options) => {
      const name = String(started.length);
      const url = `http://127.0.0.1:${9_000 + started.length}`;
      const close = (): Promise<void> => Promise.resolve(void closed.push(name));
      started.push({ url, engineId: name, close, ...options });
      return Promise.resolve(started.at(-1)!);
    });
  }

  it('are none when engines use another executor', async () => {
    const servers = serversOf({ executor: 'llamacpp', executorFor: ['decode=simulate'] });
    await servers.prepare('decode', 2);
    expect(servers.next('decode')).toBeUndefined();
    expect(started).toEqual([]);
  });

  it('are one per engine, under the model name of clients', async () => {
    const servers = serversOf({ executor: 'llamacpp', servedModelName: ['mine', 'other'] });
    await Promise.all([servers.prepare('prefill', 1), servers.prepare('decode', 2)]);
    const urls = (['prefill', 'decode', 'decode'] as const).map((each) => servers.next(each)?.url);
    expect(new Set(urls).size).toBe(3);
    expect(servers.next('decode')).toBeUndefined();
    expect(started.map(({ servedModel }) => servedModel)).toEqual(['mine', 'mine', 'mine']);
    await servers.close();
    expect(closed.sort()).toEqual(['0', '1', '2']);
  });

  it('serve the next engine, of any stage, when their engine has left', async () => {
    const servers = serversOf({ executor: 'llamacpp' });
    const [leaving, staying] = [{}, {}];
    await servers.prepare('prefill', 2);
    const first = servers.next('prefill');
    servers.lend(leaving);
    servers.next('prefill');
    servers.lend(staying);
    servers.takeBack(leaving);
    await servers.prepare('decode', 1);
    expect(servers.next('decode')).toEqual(first);
    expect(started).toHaveLength(2);
    await servers.close();
  });

  it('serve the next engine when they could not be announced for theirs', async () => {
    const servers = serversOf({ executor: 'llamacpp' });
    hub.goAway();
    await expect(servers.prepare('decode', 1)).rejects.toThrow();
    hub.comeBack();
    await servers.prepare('decode', 1);
    expect(started).toHaveLength(1);
    await servers.close();
  });

  it('connect only to addresses that servers of the cluster have announced', async () => {
    const [here, there] = [
      serversOf({ executor: 'llamacpp' }),
      serversOf({ executor: 'llamacpp' }),
    ];
    await here.prepare('decode', 1);
    await there.prepare('prefill', 1);
    const [reader, holder] = started;
    const peer: Peer = { origin: holder!.url, engineId: holder!.engineId };
    expect(await reader!.isPeer(peer)).toBe(true);
    expect(await reader!.isPeer({ ...peer, origin: 'http://127.0.0.1:6379' })).toBe(false);
    expect(await reader!.isPeer({ ...peer, engineId: 'unknown' })).toBe(false);
    await there.close();
    expect(await reader!.isPeer(peer)).toBe(false);
    await here.close();
  });

  it('limit their engines to the number of requests that they run at once', () => {
    const { config } = serversOf({ executorFor: ['decode=llamacpp'], llamacppSequences: 4 });
    const rooms = (['prefill', 'decode', 'aggregated'] as const).map(
      (stage) => configForStage(config, stage).maxNumSeqs,
    );
    expect(rooms).toEqual([256, 4, 256]);
  });
});
