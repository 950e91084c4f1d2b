import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetsDocument } from '@baton/planner';
import { formatMsInterval, formatWithInterval } from '@baton/report';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandAnswer, runCommand } from '../../test/test-command';

const SLO = ['--slo', 'ttft=1s,tpot=30ms'];
const WORKLOAD = ['--dataset', 'random', '--num-prompts', '400', '--request-rate', '12'];
const LENGTHS = ['--random-input-len', '2000', '--random-output-len', '100'];
const SPACE = `
gpus: { h100: 6, a100: 4 }
tensor_parallel_size: [1, 2]
loads: [1]
vary: { max_num_batched_tokens: [2048, 8192] }
trials: 12
`;

/** Fleets with token budgets that make little difference. */
const ALIKE = `
gpus: { h100: 2 }
tensor_parallel_size: [1]
kinds: [aggregated]
loads: [1]
vary: { max_num_batched_tokens: [7168, 8192] }
trials: 24
`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-fleets-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Half a minute of single requests, a minute's peak of up to 32 in a second, and a long calm. */
function peak(): string {
  let atUs = 30e6;
  const arrivals = Array.from({ length: 30 }, (_none, i) => i * 1e6);
  for (let i = 0; i < 600; i++) arrivals.push((atUs += 1e6 / (12 + i / 30)));
  for (let i = 0; i < 100; i++) arrivals.push(atUs + i * 4e6);
  const lines = arrivals.map((at, i) =>
    JSON.stringify({
      id: `r${i}`,
      arrival_us: Math.floor(at),
      prompt_tokens: 2_000,
      output_tokens: 100,
    }),
  );
  return `${lines.join('\n')}\n`;
}

function plan(space: string, ...args: string[]): Promise<CommandAnswer> {
  const path = join(folder, 'fleet.yaml');
  writeFileSync(path, space);
  return runCommand('plan', '--space', path, ...WORKLOAD, ...LENGTHS, ...SLO, ...args);
}

describe('baton plan --space', () => {
  it('finds a fleet whose replay keeps the SLO at the load', async () => {
    const { exitCode, stdout } = await plan(SPACE, '--json', '--threads', '1', '--out', folder);
    expect(exitCode).toBe(0);
    const document = JSON.parse(stdout) as FleetsDocument;
    const { answers, fleets, fitted_to_load: fitted, command } = document;
    const able = [...fleets, ...fitted].filter(
      ({ request_rate: rate }) => (rate ?? 0) >= (document.load_rps ?? 0),
    );
    const cheapest = Math.min(...able.map(({ usd_per_hour: usd }) => usd ?? Infinity));
    expect(answers.cheapest_for_load?.usd_per_hour).toBe(cheapest);
    expect(document.breaks_first?.points).toHaveLength(3);
    expect(document.fleets.some((one) => one.on_pareto_front)).toBe(true);
    const [configured, ...assumed] = document.sensitivity;
    expect(configured).toMatchObject({ assumption: 'as configured', keeps_slo: true });
    const tpotIf = (name: string) =>
      assumed.find(({ assumption }) => assumption === name)!.p90_tpot_ms!;
    expect(tpotIf('no step overhead')).toBeLessThan(configured!.p90_tpot_ms!);
    expect(tpotIf('step overhead x2')).toBeGreaterThan(configured!.p90_tpot_ms!);
    const [fleet] = document.fleets;
    const [low, high] = fleet!.intervals!.ttft_ms.p90!;
    expect(low).toBeLessThanOrEqual(fleet!.ttft_ms!.p90!);
    expect(high).toBeGreaterThanOrEqual(fleet!.ttft_ms!.p90!);
    expect(Object.values(fleet!.step_times)[0]).toContain('composed from measured operators of ');
    const page = readFileSync(join(folder, 'plan.html'), 'utf8');
    expect(page).toContain('composed from measured operators of ');
    expect(page).toContain('Under other assumptions');
    expect(readdirSync(folder).sort()).toEqual([
      ...['fleet.yaml', 'plan.csv', 'plan.html', 'plan.json'],
    ]);

    const [, , topology, ...flags] = command!.split(' ');
    const named = [...fleets, ...fitted].find(
      ({ name }) => name === answers.cheapest_for_load!.name,
    );
    expect(topology).toBe(named!.topology);
    expect(document.breaks_first!.fleet).toBe(named!.name);
    const again = await runCommand(
      ...['replay', '--topology', topology!, ...flags, ...WORKLOAD, ...LENGTHS, ...SLO, '--json'],
    );
    expect(JSON.parse(again.stdout)).toMatchObject({ completed: 400 });
    expect((JSON.parse(again.stdout) as { slo_attainment: number }).slo_attainment).toBeGreaterThan(
      0.9,
    );
  });

  it('compares fleets that scale themselves by the engines that they use', async () => {
    const scaler = 'hpa:running=8:interval=1s:down-window=10s';
    const space = `
gpus: { h100: 4 }
tensor_parallel_size: [1]
kinds: [aggregated]
loads: [1, 12]
vary: { autoscaler: [none, "${scaler}"] }
`;
    const path = join(folder, 'fleet.yaml');
    const trace = join(folder, 'peak.jsonl');
    writeFileSync(path, space);
    writeFileSync(trace, peak());
    // Options that are set stay, so that fleets keep their names.
    const set = ['--max-num-batched-tokens', '8192', '--max-num-seqs', '1024'];
    const fixed = [...set, '--placement', 'pull', '--long-prefill-token-threshold', '0'];
    const flags = ['--trace', trace, '--slo', 'ttft=2s,tpot=30ms', '--json', ...fixed];
    const { stdout } = await runCommand('plan', '--space', path, ...flags, '--threads', '1');
    const { fleets, answers, command } = JSON.parse(stdout) as FleetsDocument;
    const named = (name: string) => fleets.find((fleet) => fleet.name === name)!;
    const [still, scaled] = [
      named('4A h100, autoscaler none'),
      named(`4A h100, autoscaler ${scaler}`),
    ];
    expect(scaled.usd_per_hour).toBeLessThan(still.usd_per_hour! / 2);
    expect(scaled.goodput_rps).toBeGreaterThan(0.9 * still.goodput_rps!);
    expect([scaled.on_pareto_front, scaled.options]).toEqual([true, { autoscaler: scaler }]);
    expect(answers.cheapest_for_load?.name).toBe(`2A h100, autoscaler ${scaler}`);
    expect(command).toContain('up 2A --model llama-3.1-8b --gpu h100 ');
    expect(command).toContain(` --autoscaler ${scaler} --max 2A`);
  });

  it('shows the interval of each figure, and the fleets that cannot be told apart', async () => {
    const { stdout } = await plan(ALIKE, '--threads', '1', '--out', folder);
    const document = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as FleetsDocument;
    const page = readFileSync(join(folder, 'plan.html'), 'utf8');
    const best = document.fleets.find(({ name }) => name === document.answers.most_goodput!.name)!;
    const { goodput_rps: goodput, ttft_ms: ttft } = best.intervals!;
    const shown = [formatWithInterval(null, goodput), formatMsInterval(1, ttft.p90)];
    for (const ends of shown) {
      expect(stdout).toContain(ends.replace('– ', ''));
      expect(page).toContain(ends.replace('– ', ''));
    }
    expect(page).toContain(formatWithInterval(best.goodput_rps, goodput));
    expect(stdout).toContain('In brackets: 80 % intervals of each fleet by itself.');
    const lines = stdout.split('\n').filter((line) => !line.startsWith('start it:'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    const alike = document.not_told_apart.cheapest_requests;
    expect(alike.length).toBeGreaterThan(0);
    const { name } = document.answers.cheapest_requests!;
    const sentence = `told apart from ${name} by dollars per request: ${alike.join('; ')}.`;
    expect(stdout.replaceAll('\n', ' ')).toContain(sentence);
    expect(page).toContain(sentence);
  });

  it('prints equal bytes twice', async () => {
    const first = await plan(SPACE, '--json', '--threads', '1', '--seed', '3');
    const second = await plan(SPACE, '--json', '--threads', '1', '--seed', '3');
    expect(second.stdout).toBe(first.stdout);
  });

  it.each([
    ['gpus: {h100: 8', [], /--space .*fleet\.yaml cannot be read: /],
    ['gpus: {h100: eight}', [], /fleet\.yaml: gpus\.h100 must be an integer from 1 to 4096\./],
    ['gpus: {h20: 8}', [], /The GPU h20 has no price\. Add --gpu-price h20=DOLLARS\./],
    ['gpus: {h100: 8}\nvary: {autoscaler: [oracle]}', [], /vary\.autoscaler cannot be an oracle/],
    ['gpus: {h100: 8}\nvary: {autoscaler: [hpa]}', [], /There is no metric "" to scale by/],
    ['gpus: {h100: 8}\nvary: {max: [4A]}', [], /vary\.max is chosen by the search/],
    [SPACE, ['--gpus', '4'], /The file of --space sets --gpus\. Remove the flag\./],
    ['gpus: {h100: 8}\nvary: {block_size: [16]}', [], /vary\.block_size is chosen by the search/],
  ])('refuses %j with exit code 2', async (space, args, sentence) => {
    const { exitCode, stderr } = await plan(space, ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});
