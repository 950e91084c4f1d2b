import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanDocument } from '@baton/planner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandAnswer, runCommand } from '../../test/test-command';

const LENGTHS = ['--random-input-len', '2000', '--random-output-len', '100'];
const WORKLOAD = ['--dataset', 'random', '--num-prompts', '240', ...LENGTHS];
const TARGET = ['--slo', 'ttft=1s,tpot=30ms', '--gpus', '4', '--tp', '1', '--threads', '1'];
const PLAN = ['plan', ...WORKLOAD, ...TARGET, '--request-rate', '12', '--cost'];
const OUT = mkdtempSync(join(tmpdir(), 'baton-questions-'));

let answer: CommandAnswer;
let document: PlanDocument;

beforeAll(async () => {
  answer = await runCommand(...PLAN, '--explain', '1P3D', '--out', OUT);
  document = JSON.parse(readFileSync(join(OUT, 'plan.json'), 'utf8')) as PlanDocument;
});
afterAll(() => rmSync(OUT, { recursive: true }));

describe('the answers of a plan', () => {
  it('are the fewest GPUs for the load and for twice the load, and the highest load', () => {
    const { highest_load_rps, smallest } = document.answers;
    expect(highest_load_rps).toBe(document.winner.goodput_rps);
    expect(smallest.map(({ times }) => times)).toEqual([1, 2]);
    expect(smallest[0]!.request_rate! * 2).toBeCloseTo(smallest[1]!.request_rate!, 3);
    for (const { smallest: clusters, most_gpus } of smallest) {
      expect(most_gpus).toBe(16);
      const counts = clusters.map(({ gpus }) => gpus!);
      expect(counts).toEqual([...counts].sort((a, b) => a - b));
      for (const { slo_attainment } of clusters) expect(slo_attainment).toBeGreaterThanOrEqual(0.9);
    }
    const [once, twice] = smallest.map((one) => one.smallest[0]!.gpus!);
    expect(once).toBeLessThanOrEqual(twice!);
    expect(answer.stdout).toMatch(
      /^Smallest for 1[12][.\d]* requests\/s, the workload's own: \d GPU/m,
    );
    expect(answer.stdout).toMatch(/^Highest load for 4 GPUs: [\d.]+ requests\/s, /m);
  });

  it('are true in a replay of the cluster, and with one engine less they are not', async () => {
    const [{ smallest } = { smallest: [] }] = document.answers.smallest;
    const { split } = smallest.find(({ kind }) => kind === 'aggregated')!;
    const [topology = '', ...settings] = split!.split(' ');
    const flags = settings.map((word) => {
      const name = word.startsWith('mbt') ? '--max-num-batched-tokens' : '--max-num-seqs';
      return word.startsWith('lpt')
        ? ['--long-prefill-token-threshold', word.slice(3)]
        : [name, word.slice(3)];
    });
    const attainedBy = async (cluster: string): Promise<number> => {
      const slo = ['--slo', 'ttft=1s,tpot=30ms', '--request-rate', '12', '--json'];
      const { stdout } = await runCommand(
        ...['replay', '--topology', cluster, ...WORKLOAD, ...slo, ...flags.flat()],
      );
      return (JSON.parse(stdout) as { slo_attainment: number }).slo_attainment;
    };
    const engines = Number(topology.replace('A', ''));
    expect(await attainedBy(topology)).toBeGreaterThanOrEqual(0.9);
    if (engines > 1) expect(await attainedBy(`${engines - 1}A`)).toBeLessThan(0.9);
  });

  it('need a rate of the workload', async () => {
    const { stdout } = await runCommand('plan', ...WORKLOAD, ...TARGET, '--json', '--budget', '1s');
    expect((JSON.parse(stdout) as PlanDocument).answers.smallest).toEqual([]);
  });
});

describe('the what-ifs of a plan', () => {
  it('are sorted by their effect, with prices', () => {
    const [winner, other] = document.what_if;
    expect(winner!.split).toBe(document.winner.name);
    expect(other!.split).not.toBe(winner!.split);
    const effects = winner!.bars.map(({ effect }) => effect!);
    expect(effects).toEqual([...effects].sort((a, b) => b - a));
    const variables = winner!.bars.map(({ variable }) => variable);
    expect(variables).toEqual(expect.arrayContaining(['prompt length', 'output length', 'GPU']));
    for (const { low, high } of winner!.bars) {
      expect(low.goodput_rps).toBeLessThanOrEqual(winner!.goodput_rps!);
      expect(high.goodput_rps).toBeGreaterThanOrEqual(winner!.goodput_rps!);
    }
    const prompts = winner!.bars.find(({ variable }) => variable === 'prompt length')!;
    expect([prompts.low.assumption, prompts.high.assumption]).toEqual([
      'prompts x2',
      'prompts x0.5',
    ]);
    expect(prompts.low.usd_per_million_output_tokens).toBeGreaterThan(
      prompts.high.usd_per_million_output_tokens!,
    );
    expect(answer.stdout).toMatch(/^What if: goodput of /m);
    expect(readFileSync(join(OUT, 'plan.html'), 'utf8')).toContain('class="full tornado"');
  });
});

describe('the explanation of a defeat', () => {
  it('compares the split with the winner at the winner’s rate', () => {
    const { explanation, winner } = document;
    expect(explanation!.split).toMatch(/^1P3D/);
    expect(explanation!.request_rate).toBe(winner.request_rate);
    const { own_run: own, winner_run: best } = explanation!;
    expect(best!.slo_attainment).toBe(winner.slo_attainment);
    expect(own!.slo_attainment).toBeLessThan(best!.slo_attainment!);
    expect(own!.causes.queue).toBeGreaterThan(0.8);
    expect(explanation!.sentences.join(' ')).toMatch(
      /The cause is the queue: .*More prefill engines/,
    );
    expect(answer.stdout).toMatch(/^Why not 1P3D/m);
    expect(answer.stdout).toMatch(/^What is busy and what is full$/m);
    expect(readFileSync(join(OUT, 'plan.html'), 'utf8')).toContain('Why not: 1P3D');
  });

  it('is refused for an unknown split before the workload is read', async () => {
    const { exitCode, stdout, stderr } = await runCommand(
      ...['plan', '--trace', 'missing.jsonl', ...TARGET, '--explain', '5P3D'],
    );
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^baton: --explain '5P3D' is no split of 4 GPUs, such as \dP\dD\.\n$/);
  });
});
