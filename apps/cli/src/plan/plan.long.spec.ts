import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '@baton/analysis';
import type { PlanDocument, SplitDocument } from '@baton/planner';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CommandAnswer, runCommand } from '../../test/test-command';

const SLO = ['--slo', 'ttft=1s,tpot=30ms'];
const WORKLOAD = ['--dataset', 'random', '--num-prompts', '300', '--random-range-ratio', '0.5'];
const LENGTHS = ['--random-input-len', '2000', '--random-output-len', '100'];
const PLAN = [...WORKLOAD, ...LENGTHS, ...SLO, '--gpus', '4', '--tp', '1,2', '--threads', '1'];

function plan(...args: string[]): Promise<CommandAnswer> {
  return runCommand('plan', ...args);
}

async function planned(...args: string[]): Promise<PlanDocument> {
  const { exitCode, stdout } = await plan(...args, '--json');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as PlanDocument;
}

/** Replays a command line that a plan has printed, with further flags. */
async function replayed(command: string | null, ...more: string[]): Promise<Summary> {
  const [, ...words] = command!.split(' ');
  const { exitCode, stdout } = await runCommand(...words, ...more, '--json');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as Summary;
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-plan-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

let answer: CommandAnswer;
let document: PlanDocument;
beforeAll(async () => {
  answer = await plan(...PLAN, '--json');
  document = JSON.parse(answer.stdout) as PlanDocument;
});

describe('the page of a plan that aggregated engines win', () => {
  it('has their lead over disaggregated ones, and none over themselves', async () => {
    const short = ['--dataset', 'random', '--num-prompts', '100', '--random-input-len', '64'];
    const flags = [...short, '--random-output-len', '64', ...SLO, '--gpus', '2', '--tp', '1'];
    const { winner } = await planned(...flags, '--threads', '1', '--out', folder);
    expect(winner.kind).toBe('aggregated');
    const page = readFileSync(join(folder, 'plan.html'), 'utf8');
    expect(page).toContain('<dt>more than disaggregated</dt>');
    expect(page).not.toContain('more than aggregated');
  });
});

describe('baton plan --json', () => {
  it('prints one document with every split, including those not simulated', () => {
    expect(answer.exitCode).toBe(0);
    expect(answer.stderr).toMatch(/^(baton: .*\n)*$/);
    expect(document).toMatchObject({ gpus: 4, slo: 'ttft=1s,tpot=30ms', seed: 0 });
    expect(document).toMatchObject({ front_end: { name: 'vllm' }, config: { frontend: 'vllm' } });
    expect(document.winner_summary?.phase_means_ms.front_end).toBeGreaterThan(5.7);
    expect(document.config).toMatchObject({
      model: 'llama-3.1-8b',
      workload: { source: 'random', num_prompts: '300', request_rate: '1', requests: 300 },
    });
    expect(document.config).not.toHaveProperty('topology');
    expect(
      document.splits.map(({ name }) => name.replace(/ (P:|D:|mbt|mns|lpt|least).*$/, '')),
    ).toEqual([
      ...['1P3D', '2P2D', '3P1D', '2P1D tp1/tp2', '1P2D tp2/tp1', '1P1D tp2/tp2'],
      ...['4A', '2A tp1 pp2', '1A tp1 pp4', '2A tp2', '1A tp2 pp2'],
    ]);
    for (const split of document.splits) {
      expect(split.simulated).toBe(split.goodput_rps !== null);
      expect(split.simulated).toBe(split.why_not === null);
      if (!split.simulated) continue;
      expect(split.slo_attainment).toBeGreaterThanOrEqual(0.9);
      expect(split.goodput_rps).toBeLessThanOrEqual(split.request_rate!);
      expect(split.goodput_rps_per_gpu! * 4).toBeCloseTo(split.goodput_rps!, 4);
      expect(Object.keys(split.ttft_ms!)).toEqual(['mean', 'p50', 'p90', 'p95', 'p99', 'max']);
    }
  });

  it('has the winner, and splits to compare it with', () => {
    const rates = document.splits
      .filter(({ comparable }) => comparable)
      .map(({ goodput_rps }) => goodput_rps ?? 0);
    const best = (kind: SplitDocument['kind']): SplitDocument => {
      return document.splits
        .filter((split) => split.kind === kind && split.comparable)
        .reduce((a, b) => ((b.goodput_rps ?? 0) > (a.goodput_rps ?? 0) ? b : a));
    };
    expect(document.winner.goodput_rps).toBe(Math.max(...rates));
    expect(document.best_aggregated).toBe(best('aggregated').name);
    expect(document.best_disaggregated).toBe(best('disaggregated').name);
    const margin = document.winner.goodput_rps! / best('aggregated').goodput_rps! - 1;
    expect(document.margin_over_aggregated).toBeCloseTo(margin, 4);
  });

  it('agrees with a replay at that rate, and misses the target slightly above', async () => {
    const { winner, replay_command, winner_summary, tolerance } = document;
    const same = await replayed(replay_command);
    for (const name of ['ttft_ms', 'tpot_ms', 'itl_ms', 'slo_attainment', 'steps'] as const) {
      expect(same[name]).toEqual(winner_summary![name]);
    }
    expect(same.ttft_ms).toEqual(winner.ttft_ms);
    const above = replay_command!.replace(/--rate-scale (\S+)/, (_all, scale: string) => {
      return `--rate-scale ${Number(scale) * (1 + tolerance)}`;
    });
    expect((await replayed(above)).slo_attainment).toBeLessThan(0.9);
  });

  it('agrees with replays of all splits at one rate on which keep the target', async () => {
    const rate = document.winner.request_rate! * 0.9;
    for (const split of document.splits.filter(({ comparable }) => comparable)) {
      const { prefill, decode, aggregated = 1 } = split.tensor_parallel_size;
      const stages = /pp(\d+)/.exec(split.name)?.[1] ?? '1';
      const settings = Object.entries(split.settings).map(([name, value]) => {
        return `--${name.replaceAll('_', '-')} ${String(value)}`;
      });
      const sizes = [`--tensor-parallel-size ${aggregated}`].concat(
        prefill === undefined ? [] : `--prefill-tensor-parallel-size ${prefill}`,
        decode === undefined ? [] : `--decode-tensor-parallel-size ${decode}`,
        `--pipeline-parallel-size ${stages}`,
        settings,
      );
      const flags = [...WORKLOAD, ...LENGTHS, ...SLO, '--request-rate', '1'];
      const words = ['x', 'replay', '--topology', split.topology, ...flags, ...sizes];
      const { slo_attainment } = await replayed(`${words.join(' ')} --rate-scale ${rate}`);
      expect(slo_attainment! >= 0.9, split.name).toBe(split.request_rate! >= rate);
    }
  });

  it('covers the front below its highest rates too', () => {
    const { frontier, splits } = document;
    const front = splits.filter(({ on_pareto_front }) => on_pareto_front);
    expect(front.length).toBeGreaterThan(0);
    expect(new Set(frontier.map(({ name }) => name))).toEqual(
      new Set(front.map(({ name }) => name)),
    );
    for (const { name, request_rate, comparable } of front) {
      const points = frontier.filter((point) => point.name === name);
      const loads = points.map((point) => (point.request_rate! / request_rate!).toFixed(2));
      const all = ['0.25', '0.50', '0.75', '0.90', '1.00'];
      expect(loads).toEqual(comparable ? all : all.slice(0, loads.length));
      for (const point of points) {
        expect(point.slo_attainment).toBeGreaterThanOrEqual(0.9);
        expect(point.output_tokens_per_second_per_user).toBeCloseTo(1000 / point.tpot_ms.p50!, 2);
      }
    }
  });

  it('reports whether the winner still wins under other assumptions', () => {
    const { sensitivity } = document;
    const of = (name: string) => sensitivity.find(({ assumption }) => assumption === name)!;
    const base = of('as configured');
    expect(base.same_winner).toBe(true);
    expect(sensitivity.map(({ assumption }) => assumption)).toEqual(
      expect.arrayContaining(['prompts x2', 'outputs x0.5', 'one aggregated engine lost', 'h200']),
    );
    // An aggregated engine uses no link, and the factor of its mixed steps is 1.
    expect(of('link bandwidth x0.5').aggregated_goodput_rps_per_gpu).toBe(
      base.aggregated_goodput_rps_per_gpu,
    );
    expect(of('mixed_decode_factor 1').better).toBe(base.better);
    expect(of('mixed_decode_factor 3.2').aggregated_goodput_rps_per_gpu).toBeLessThan(
      base.aggregated_goodput_rps_per_gpu!,
    );
    expect(of('step overhead x2').aggregated_goodput_rps_per_gpu).toBeLessThan(
      of('no step overhead').aggregated_goodput_rps_per_gpu!,
    );
  });

  it('finds settings for each design, unless they are set', async () => {
    const { best_aggregated, at_defaults, settings } = document;
    const tuned = document.splits.find(({ name }) => name === best_aggregated)!;
    expect(tuned.settings).toHaveProperty('max_num_batched_tokens');
    expect(tuned.goodput_rps).toBeGreaterThan(at_defaults.aggregated!.goodput_rps!);
    const worth = settings.filter(({ kind, option }) => kind === 'aggregated' && option !== null);
    expect(worth.map(({ option }) => option)).toEqual(Object.keys(tuned.settings));
    for (const { goodput_rps } of worth) expect(goodput_rps).toBeLessThan(tuned.goodput_rps!);
    const set = ['--max-num-batched-tokens', '8192', '--max-num-seqs', '256'];
    const fixed = await planned(...PLAN, ...set, '--placement', 'pull');
    for (const split of fixed.splits) {
      expect(Object.keys(split.settings).join()).toMatch(/^(long_prefill_token_threshold)?$/);
    }
  });

  it('tries the options that the user asks for', async () => {
    const { winner } = await planned(...PLAN, '--vary', '{quantization: [none, fp8]}');
    expect(winner.settings).toMatchObject({ quantization: 'fp8' });
    expect(winner.goodput_rps).toBeGreaterThan(document.winner.goodput_rps!);
  });

  it('has a first answer within a budget, and says what was cut short', async () => {
    const { cut_short, doubts, winner, at_defaults } = await planned(...PLAN, '--budget', '1s');
    expect(winner.goodput_rps).toBeGreaterThan(0);
    expect(cut_short.length).toBeGreaterThan(0);
    expect(doubts.join(' ')).toContain('The time budget ended');
    expect(Object.keys(at_defaults)).toEqual(['disaggregated', 'aggregated']);
  });

  it('does not take the rate of a burst for a lasting rate', async () => {
    const lax = PLAN.map((word) => (word === SLO[1] ? 'e2el=1000s' : word));
    const { splits, doubts } = await planned(...lax);
    for (const split of splits.filter(({ simulated }) => simulated)) {
      expect(split.request_rate).toBeGreaterThan(100 * split.estimated_rps!);
      expect(split.goodput_rps).toBeLessThan(2 * split.estimated_rps!);
    }
    expect(doubts.join(' ')).toContain('too short for a firm result');
  });

  it('counts refused requests against a split', async () => {
    const trace = join(folder, 'long.jsonl');
    const lines = Array.from({ length: 200 }, (_none, i) => {
      // One in twenty requests needs more KV than a prefill engine with few blocks has.
      const prompt_tokens = i % 20 === 7 ? 30_000 : 500;
      return JSON.stringify({ arrival_ms: i * 100, prompt_tokens, output_tokens: 20 });
    });
    writeFileSync(trace, lines.join('\n'));
    const flags = ['--gpus', '2', '--tp', '1', '--slo', 'ttft=2s', '--threads', '1'];
    const small = ['--prefill-num-gpu-blocks-override', '1000', '--trace', trace];
    const { splits, winner, doubts } = await planned(...flags, ...small);
    expect(
      splits.map(({ topology, refused, comparable }) => [topology, refused, comparable]),
    ).toEqual([
      ['1P1D', 10, false],
      ['2A', 0, true],
      ['1A', 0, true],
    ]);
    expect(winner.kind).toBe('aggregated');
    expect(doubts.join(' ')).toContain('are not compared');
  });
});

describe('a plan with SLO classes', () => {
  const TWO = [...WORKLOAD, ...LENGTHS, ...SLO, '--gpus', '2', '--tp', '1', '--threads', '1'];

  it('keeps the targets of each class, and reports the results of each', async () => {
    const classes = JSON.stringify({ quick: { ttft: 150 }, rest: {} });
    const mix = ['--slo-classes', classes, '--slo-mix', 'quick=0.2,rest=0.8'];
    const plain = await planned(...TWO);
    const { stdout } = await plan(...TWO, ...mix, '--out', folder);
    const path = join(folder, 'plan.json');
    const { winner, splits } = JSON.parse(readFileSync(path, 'utf8')) as PlanDocument;
    for (const { slo_classes } of splits) {
      expect(slo_classes!.map(({ name, slo }) => [name, slo])).toEqual([
        ['quick', 'ttft=150ms'],
        ['rest', null],
      ]);
      for (const each of slo_classes!) expect(each.slo_attainment).toBeGreaterThanOrEqual(0.9);
    }
    expect(plain.winner).not.toHaveProperty('slo_classes');
    expect(winner.request_rate).toBeLessThan(plain.winner.request_rate!);
    expect(stdout).toContain('quick (ttft=150ms)');
    expect(readFileSync(join(folder, 'plan.html'), 'utf8')).toContain('SLO classes');
  });

  it('fails when no split keeps the targets of a class', async () => {
    const classes = JSON.stringify({ quick: { ttft: 1 }, rest: {} });
    const mix = ['--slo-classes', classes, '--slo-mix', 'quick=0.2,rest=0.8'];
    const { exitCode, stderr } = await plan(...TWO, ...mix);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('targets of each SLO class')]);
  });
});

describe('baton plan', () => {
  const folders = mkdtempSync(join(tmpdir(), 'baton-plan-'));
  const out = join(folders, 'new', 'result');
  let table: CommandAnswer;
  beforeAll(async () => {
    table = await plan(...PLAN, '--out', out);
  });
  afterAll(() => rmSync(folders, { recursive: true }));

  it('prints a table, with the command that starts the winner', () => {
    const { exitCode, stdout } = table;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Plan of 4 GPUs for random: llama-3.1-8b, h100, 90 % of requests/);
    expect(stdout).toMatch(/^Not simulated, by arithmetic at most \d+ % of the best split: 1P3D/m);
    expect(stdout).toMatch(/^start it: +bin\/baton up \d/m);
  });

  it('gives the same document, byte for byte, once more', () => {
    const written = readFileSync(join(out, 'plan.json'), 'utf8');
    expect(written).toBe(answer.stdout);
    expect(JSON.parse(written)).toEqual(document);
  });

  it('writes its files, with a page without external links', () => {
    expect(readdirSync(out).sort()).toEqual(['plan.csv', 'plan.html', 'plan.json']);
    expect(table.stderr).toContain('wrote plan.json, plan.csv, plan.html');
    const [head = '', ...rows] = readFileSync(join(out, 'plan.csv'), 'utf8').trim().split('\n');
    expect(rows).toHaveLength(document.splits.length);
    for (const row of rows) expect(row.split(',')).toHaveLength(head.split(',').length);
    const page = readFileSync(join(out, 'plan.html'), 'utf8');
    for (const title of [
      'goodput per GPU',
      'Throughput and speed',
      'TTFT over load',
      'Sensitivity',
    ]) {
      expect(page).toContain(title);
    }
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it('fails with the nearest miss when no split keeps the SLO', async () => {
    const tight = PLAN.map((word) => (word === SLO[1] ? 'ttft=60ms,tpot=1ms' : word));
    const { exitCode, stdout, stderr } = await plan(...tight);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^baton: No split keeps ttft=60ms,tpot=1ms for 90 % of the requests, /m);
    expect(stderr).toMatch(/The nearest miss is .*: 0 % with TTFT p50 [\d.]+ ms/);
  });

  it('lists the shipped traces', async () => {
    const { exitCode, stdout } = await plan('--trace', 'list');
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^mooncake-conversation$/m)]);
  });

  it.each([
    [[], 'The SLO is missing'],
    [['--slo', 'ttft=1s', '--gpus', '3', '--tp', '2'], 'use all 3 GPUs'],
    [['--slo', 'ttft=1s', '--gpus', '4', '--num-prompts', '0'], 'leaves no request'],
    [['--slo', 'ttft=1s', '--gpus', '4', '--request-rate', 'inf'], 'arrive at one instant'],
    [['--slo', 'ttft=1s', '--gpus', '4', '--model', 'gpt-0'], 'gpt-0'],
    [['--slo', 'ttft=1s', '--gpus', '4', '--data-parallel-size', '2'], 'data_parallel_size'],
    [['--slo', 'ttft=1s', '--gpus', '4', '--simulat', '2'], "did you mean '--simulate'?"],
  ])('refuses %j with one sentence and exit code 2', async (flags, sentence) => {
    const { exitCode, stdout, stderr } = await plan('--dataset', 'random', ...flags);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^baton: [^\n]+\n$/);
    expect(stderr).toContain(sentence);
  });
});
