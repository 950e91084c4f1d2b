import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RequestTimeline } from '@baton/contract';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { post, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../examples/policies/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-live-policies-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The option of each example that does not choose engines. */
const OPTION_OF: Readonly<Record<string, string>> = {
  'edf.mjs': '--scheduling-policy',
  'short-queues.mjs': '--admission',
  'small-prompts-first.mjs': '--flow-control',
};

/** The engines of a stage share a process: nothing here is about their ends. */
const SHARED = '--engines-per-process=2';

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

  /** Without late answers: a busy machine can pause a process in the middle of one. */
  async function faults(target: TestCluster): Promise<string[]> {
    const counted = await metric(target, 'baton:policy_faults_total');
    return [...counted.keys()].filter((line) => !/reason="(slow|no_answer)"/.test(line));
  }

  it('sends prompts where a router says, and to the fallback where it fails', async () => {
    const choose = `choose({ stage, request, engines }) {
      if (stage === 'prefill' && request.promptTokens > 150) return -1;
      if (stage === 'prefill' && request.promptTokens > 50) throw new Error('too long');
      const names = engines.map(({ engineId }) => engineId);
      return names.indexOf([...names].sort().at(-1));
    }`;
    const target = await start('2P2D', SHARED, '--placement', moduleOf('last.mjs', choose));
    const prefills = (await target.engines()).filter(({ stage }) => stage === 'prefill');
    const last = prefills.map(({ engineId }) => engineId).sort()[1];
    const lastIndex = prefills.find(({ engineId }) => engineId === last)?.index;
    const engineOf = async (prompt: string): Promise<string | undefined> => {
      const body = { prompt, max_tokens: 4, ignore_eos: true };
      const { ids } = await stream(`${target.baseUrl}/v1/completions`, body);
      const answer = await fetch(`${target.baseUrl}/v1/requests/${ids[0]}/timeline`);
      const { sequences } = (await answer.json()) as RequestTimeline;
      return sequences[0]?.prefill_engine?.id;
    };
    // The first prompts can precede the load of an engine. The router then places them elsewhere,
    // or leaves them to the shared queue.
    const isSeen = async (): Promise<boolean> => {
      await engineOf('one');
      return [...(await metric(target, 'baton:placement_decisions_total'))].some(
        ([line, count]) =>
          line.includes(`engine="${lastIndex}"`) && line.includes('stage="prefill"') && count > 0,
      );
    };
    await waitUntil(isSeen, { what: 'the router has chosen the last engine' });
    for (const prompt of ['one', 'two', 'three', 'four']) expect(await engineOf(prompt)).toBe(last);
    await send(target, ['word '.repeat(100), 'word '.repeat(200)]);
    expect((await faults(target)).sort()).toEqual([
      'baton:policy_faults_total{policy="last.mjs",stage="prefill",reason="threw"} 1',
      'baton:policy_faults_total{policy="last.mjs",stage="prefill",reason="wrong_answer"} 1',
    ]);
    // Lines of the API come by way of the supervisor, later than its answers.
    const said = [
      /choose \(prefill\) threw Error: too long \(last\.mjs:3:/,
      /choose \(prefill\) returned -1; .* \(last\.mjs:1\)/,
    ];
    await waitUntil(() => said.every((line) => line.test(target.log)), {
      what: 'the log says what the router did wrong',
    });
  });

  it('ends a call that does not return, and names the line of the loop, also in an engine', async () => {
    const loop = '\nfor (;;) {\n}';
    const choose = moduleOf('loop.mjs', `choose({ request }) { ${loop} return request.none; }`);
    const key = moduleOf('order.mjs', `key(sequence) { ${loop} return sequence.order; }`);
    const flags = ['--placement', choose, '--scheduling-policy', key];
    const target = await start('1P1D', ...flags);
    const isCounted = async (policy: string): Promise<boolean> => {
      // An engine in an endless loop can be silent for so long that requests get 503.
      const body = { prompt: 'one', max_tokens: 4, ignore_eos: true };
      const { error, finishReason } = await stream(`${target.baseUrl}/v1/completions`, body);
      expect(['no_engine', 'length']).toContain(error?.code ?? finishReason);
      const lines = [...(await metric(target, 'baton:policy_faults_total')).keys()];
      const labels = `policy="${policy}",stage="prefill",reason="no_answer"`;
      return lines.some((line) => line.includes(labels));
    };
    for (const policy of ['loop.mjs', 'order.mjs']) {
      await waitUntil(() => isCounted(policy), { what: `the faults of ${policy} are counted` });
    }
    const told = (): string[] =>
      [...target.log.matchAll(/\w+ \(prefill\) did not return within 50 ms[^.]*\.mjs[^)]*\)/g)].map(
        ([text]) => text,
      );
    await waitUntil(() => new Set(told()).size >= 2, { what: 'both faults are logged' });
    // A thread that gets no CPU time for 50 ms may not have come to the loop in the second line.
    const inLoop = (call: string, file: string) =>
      expect.stringMatching(
        new RegExp(`^${call} \\(prefill\\) did not return within 50 ms \\(${file}:[12]\\)$`),
      ) as string;
    const both = [inLoop('choose', 'loop.mjs'), inLoop('key', 'order.mjs')];
    expect(told()).toEqual(expect.arrayContaining(both));
  });

  it('ends such a call in a replay too, which then gives the same result each time', async () => {
    const choose = `n: 0, choose({ engines }) {
      this.n += 1;
      while (this.n === 20);
      return this.n % engines.length;
    }`;
    const workload = ['--dataset', 'random', '--num-prompts', '40', '--request-rate', '10'];
    const flags = ['--topology', '2A', '--placement', moduleOf('once.mjs', choose), '--json'];
    const replay = async (): Promise<{ steps: number; note: string }> => {
      const args = [BATON, 'replay', ...workload, ...flags];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
      return { ...(JSON.parse(stdout) as { steps: number; ttft_ms: object }), note: stderr };
    };
    const { steps, note } = await replay();
    expect(note).toContain('choose (aggregated) did not return within 1000 ms (once.mjs:3)');
    expect(note).toContain('A built-in policy made that choice');
    expect((await replay()).steps).toBe(steps);
  });

  it('follows the decisions of an autoscaler, and keeps its engines where it throws', async () => {
    const decide = `decide({ counts }) {
      if (counts.decode > 1) throw new Error('enough');
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
    await waitUntil(() => target.log.includes('decide (cluster) threw Error: enough (two.mjs:2:'), {
      what: 'the log says that the autoscaler has failed',
    });
  });

  /** No policy has thrown, or chosen an engine that is not there. */
  async function expectFaultless(target: TestCluster): Promise<void> {
    expect(target.log).not.toMatch(/\((prefill|decode|aggregated)\) (threw|returned)/);
    expect(await faults(target)).toEqual([]);
  }

  const PROMPTS = ['one', 'two', 'three', 'word '.repeat(60), 'word '.repeat(60)];
  const published = readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs'));
  const routers = published.filter((name) => OPTION_OF[name] === undefined);

  /** Jobs that a policy placed at a stage. */
  async function placedBy(target: TestCluster, stage: string, policy: string): Promise<number> {
    const placed = [...(await metric(target, 'baton:placement_decisions_total'))];
    return placed
      .filter(([line]) => line.includes(`stage="${stage}",policy="${policy}"`))
      .reduce((sum, [, count]) => sum + count, 0);
  }

  /** Sends prompts until each of two policies has placed more jobs at its stage. */
  async function place(target: TestCluster, prefill: string, decode: string): Promise<void> {
    const placed = (): Promise<number[]> =>
      Promise.all([placedBy(target, 'prefill', prefill), placedBy(target, 'decode', decode)]);
    const before = await placed();
    const havePlaced = async (): Promise<boolean> => {
      await send(target, PROMPTS);
      return (await placed()).every((count, i) => count > (before[i] ?? 0));
    };
    await waitUntil(havePlaced, { what: `${prefill} and ${decode} place jobs` });
  }

  /** Two policies share a cluster: each places one stage, and then the other. */
  it.each(pairsOf(routers))('runs the published policies %s and %s', async (one, other) => {
    const [placement, decode_placement] = [join(EXAMPLES, one), join(EXAMPLES, other)];
    const flags = ['--placement', placement, '--decode-placement', decode_placement];
    const target = await start('2P2D', SHARED, '--enable-admin', ...flags);
    await place(target, one, other);
    const swapped = { placement: decode_placement, decode_placement: placement };
    expect((await post(`${target.baseUrl}/admin/config`, swapped)).status).toBe(200);
    await place(target, other, one);
    await expectFaultless(target);
  });

  it(`runs the published policies ${Object.keys(OPTION_OF).join(', ')}`, async () => {
    const given = published.filter((name) => OPTION_OF[name] !== undefined);
    expect(given).toEqual(Object.keys(OPTION_OF));
    const flags = given.flatMap((name) => [OPTION_OF[name] ?? '', join(EXAMPLES, name)]);
    const target = await start('2P2D', SHARED, ...flags);
    await send(target, PROMPTS);
    await expectFaultless(target);
  });
});

/** An odd last one comes with the first. */
function pairsOf(names: readonly string[]): (readonly [string, string])[] {
  const firsts = names.filter((_name, i) => i % 2 === 0);
  return firsts.map((name, i) => [name, names[2 * i + 1] ?? names[0] ?? name]);
}
