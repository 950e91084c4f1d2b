import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const EXAMPLES = fileURLToPath(new URL('../../examples/policies/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-live-policies-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The option of each example that does not choose engines. */
const OPTION_OF: Readonly<Record<string, string>> = {
  'edf.mjs': '--scheduling-policy',
  'short-queues.mjs': '--admission',
  'small-prompts-first.mjs': '--flow-control',
};

function moduleOf(name: string, method: string): string {
  const path = join(folder, name);
  writeFileSync(path, `export default { create: () => ({ ${method} }) };\n`);
  return path;
}

describe("a cluster of processes with a user's policies", () => {
  let cluster: TestCluster | undefined;

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(topology: string, ...flags: string[]): Promise<TestCluster> {
    cluster = await TestCluster.start({ topology, flags: [...PLAIN_STEPS, ...flags] });
    return cluster;
  }

  async function send(target: TestCluster, prompts: readonly string[]): Promise<void> {
    const url = `${target.baseUrl}/v1/completions`;
    const answers = await Promise.all(
      prompts.map((prompt) => stream(url, { prompt, max_tokens: 4, ignore_eos: true })),
    );
    for (const { error, finishReason } of answers) expect(error ?? finishReason).toBe('length');
  }

  /** The lines of a metric, by their labels. */
  async function metric(target: TestCluster, name: string): Promise<Map<string, number>> {
    const page = await (await fetch(`${target.baseUrl}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.startsWith(`${name}{`));
    return new Map(lines.map((line) => [line, Number(line.split(' ').at(-1))]));
  }

  it('sends prompts where a router says, and to the fallback where it throws', async () => {
    const choose = `choose({ stage, request, engines }) {
      if (stage === 'prefill' && request.promptTokens > 50) throw new Error('too long');
      const names = engines.map(({ engineId }) => engineId);
      return names.indexOf([...names].sort().at(-1));
    }`;
    const target = await start('2P2D', '--placement', moduleOf('last.mjs', choose));
    const prefills = async (): Promise<number[]> => {
      const placed = await metric(target, 'baton:placement_decisions_total');
      const ofPolicy = 'stage="prefill",policy="last.mjs"';
      const lines = [...placed].filter(([line]) => line.includes(ofPolicy));
      return lines.map(([, count]) => count).sort((a, b) => a - b);
    };
    // The first prompts can precede the loads of the engines.
    const isPlacing = async (): Promise<boolean> => {
      await send(target, ['one', 'two', 'three', 'four']);
      return (await prefills()).some((count) => count >= 4);
    };
    await waitUntil(isPlacing, { what: 'prompts are placed' });
    expect((await prefills())[0]).toBe(0);
    await send(target, ['word '.repeat(100)]);
    const faults = await metric(target, 'baton:policy_faults_total');
    expect([...faults.keys()]).toEqual([
      'baton:policy_faults_total{policy="last.mjs",stage="prefill",reason="threw"} 1',
    ]);
    expect(target.log).toContain('choose (prefill) threw Error: too long (last.mjs:2:');
  });

  it('follows the decisions of an autoscaler, and keeps its engines where it throws', async () => {
    const decide = `decide({ counts, nowUs }) {
      if (nowUs > 3_000_000) throw new Error('enough');
      return { counts: { ...counts, decode: 2 } };
    }`;
    const flags = ['--max', '1P3D', '--scale-interval', '1'];
    const target = await start('1P1D', '--scale-policy', moduleOf('two.mjs', decide), ...flags);
    const decodes = async (): Promise<number> =>
      (await target.engines()).filter(({ stage }) => stage === 'decode').length;
    await waitUntil(async () => (await decodes()) === 2, { what: 'a second decode engine' });
    const counted = async (): Promise<boolean> =>
      [...(await metric(target, 'baton:policy_faults_total'))].some(([line, count]) => {
        return line.includes('policy="two.mjs",stage="cluster",reason="threw"') && count > 1;
      });
    await waitUntil(counted, { what: 'the API counts the faults of the autoscaler' });
    expect(await decodes()).toBe(2);
    expect(target.log).toContain('decide (cluster) threw Error: enough (two.mjs:2:');
  });

  it.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs')))(
    'runs the published policy %s',
    async (name) => {
      const option = OPTION_OF[name] ?? '--placement';
      const target = await start('2P2D', option, join(EXAMPLES, name));
      await send(target, ['one', 'two', 'three', 'word '.repeat(60), 'word '.repeat(60)]);
      expect(target.log).not.toMatch(/\((prefill|decode|aggregated)\) (threw|returned|took)/);
      expect([...(await metric(target, 'baton:policy_faults_total'))]).toEqual([]);
    },
  );
});
