import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { freePort } from '../support/free-port';
import { CommandProcess } from '../support/command-process';
import { ToyProxy } from '../support/toy-proxy';

describe('npm run judge:proxy', () => {
  let cluster: TestCluster;
  let urls: Record<'prefill' | 'decode', string>;

  beforeAll(async () => {
    const firstPort = await freePort(2);
    const exposed = ['--expose-engines', `--expose-engines-port=${firstPort}`];
    cluster = await TestCluster.start({
      topology: '1P1D',
      flags: [...PLAIN_STEPS, '--speedup=4', '--dialect=vllm', ...exposed],
    });
    const engines = await cluster.engines();
    const urlOf = (stage: string): string =>
      `http://127.0.0.1:${firstPort + (engines.find((one) => one.stage === stage)?.index ?? 0)}`;
    urls = { prefill: urlOf('prefill'), decode: urlOf('decode') };
  });

  afterAll(() => cluster?.stop());

  async function run(...args: string[]): Promise<{ code: number | string; log: string }> {
    const command = CommandProcess.start([process.execPath, 'test/proxies/run.mjs', ...args]);
    return { code: await command.ended, log: command.log };
  }

  it('tells apart toy proxies with and without a hand-over', async () => {
    const good = await ToyProxy.start(urls);
    const bad = await ToyProxy.start({ ...urls, forgets: true });
    try {
      const passed = await run('--cluster', cluster.baseUrl, good.url);
      expect([passed.code, passed.log]).toEqual([0, expect.stringContaining('all is well')]);
      expect(passed.log).toMatch(/32 at once +32 +32 {2}ok/);
      const failed = await run(
        '--cluster',
        cluster.baseUrl,
        '--only=with usage',
        '--settle=1',
        bad.url,
      );
      expect(failed.code).toBe(1);
      expect(failed.log).toMatch(/usage +4 +0 {2}WRONG: 0 hand-overs where 4 belong; left/);
    } finally {
      await good.stop();
      await bad.stop();
    }
  });

  it('prints its help, and explains a wrong call', async () => {
    const help = await run('--help');
    expect([help.code, help.log]).toEqual([0, expect.stringContaining('--cluster URL')]);
    for (const args of [[], ['ftp://x'], ['http://x', '--settle=no'], ['http://x', '--nope']]) {
      expect((await run(...args)).code).toBe(2);
    }
    const gone = await run('--cluster', 'http://127.0.0.1:9', '--settle=1', 'http://127.0.0.1:9');
    expect(gone.code).toBe(1);
  });
});
