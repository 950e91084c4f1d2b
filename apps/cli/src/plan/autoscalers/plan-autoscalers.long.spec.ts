import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../program';
import type { ComparedAutoscalers } from './output';
import type { ScalingTrial } from './trial';

const folder = mkdtempSync(join(tmpdir(), 'baton-autoscalers-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

async function baton(...args: string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  const exitCode = await runProgram(args);
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

const SLO = ['--slo', 'ttft=2s,tpot=50ms'];
const SMALL = ['--dataset', 'random', '--num-prompts', '300', '--request-rate', '10', ...SLO];

/** Twelve minutes of the shipped conversations: bursts of long prompts. */
const TRACE = ['--trace', 'mooncake-conversation', '--limit', '2500', ...SLO];

describe('baton plan --autoscalers', () => {
  it('has oracles with the best attainment and the fewest GPU-hours per request', async () => {
    const names =
      'hpa:ttft,hpa:ttft@prefill+kv=0.7@decode,keda:5,wva:interval=60s,sla:interval=60s';
    const bounds = ['--max', '6P3D', '--startup-duration', '60', '--json'];
    const { stdout } = await baton('plan', ...TRACE, '--autoscalers', names, ...bounds);
    const { trials } = JSON.parse(stdout) as ComparedAutoscalers;
    const isOracle = (trial: ScalingTrial): boolean => trial.autoscaler.startsWith('oracle');
    const [oracles, others] = [trials.filter(isOracle), trials.filter((one) => !isOracle(one))];
    expect([oracles.length, others.length]).toEqual([2, 7]);
    const [bound] = oracles;
    const hoursPerShare = (trial: ScalingTrial): number => trial.gpu_hours / trial.slo_attainment!;
    const cheapest = Math.min(...oracles.map(hoursPerShare));
    for (const other of others) {
      // The largest split has all engines from the start, and attains the most.
      expect(bound!.slo_attainment).toBeGreaterThanOrEqual(other.slo_attainment! - 0.005);
      // Splits that serve less than half of the requests in time are not compared.
      if (other.slo_attainment! < 0.5) continue;
      const isDearer = hoursPerShare(other) >= 0.98 * cheapest;
      expect([other.autoscaler, isDearer]).toEqual([other.autoscaler, true]);
    }
  });

  it('compares modules and built-in autoscalers in a table, and writes files', async () => {
    const path = join(folder, 'two.mjs');
    const decide = '({ counts }) => ({ counts: { ...counts, decode: 2 } })';
    writeFileSync(path, `export default { create: () => ({ decide: ${decide} }) };\n`);
    const flags = ['--autoscalers', `${path},hpa:ttft`, '--max', '2P2D', '--gpu-price', 'h100=2'];
    const { exitCode, stdout } = await baton('plan', ...SMALL, ...flags, '--out', folder);
    expect(exitCode).toBe(0);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(stdout).toMatch(/^autoscaler +in SLO +GPU-hours +cost +GPUs/m);
    const { trials } = JSON.parse(
      readFileSync(join(folder, 'plan.json'), 'utf8'),
    ) as ComparedAutoscalers;
    expect(trials.map(({ autoscaler }) => autoscaler)).toEqual([
      ...[
        'two.mjs',
        'hpa:ttft',
        'oracle',
        'oracle like the best split',
        'static 1P1D',
        'static 2P2D',
      ],
    ]);
    const largest = trials.at(-1)!;
    expect(largest.usd).toBeCloseTo(2 * largest.gpu_hours, 4);
    const csv = readFileSync(join(folder, 'plan.csv'), 'utf8').trim().split('\n');
    expect(csv).toHaveLength(1 + trials.length);
  });

  it('has a share for each SLO class, and no winner whose class misses its targets', async () => {
    const classes = { quick: { ttft: 1 }, slow: { priority: 1 } };
    const mix = ['--slo-classes', JSON.stringify(classes), '--slo-mix', 'quick=0.2,slow=0.8'];
    const flags = [...mix, '--autoscalers', 'keda:5', '--max', '2P2D', '--out', folder];
    const { stdout } = await baton('plan', ...SMALL, ...flags, '--attainment', '0.7');
    expect(stdout).toMatch(/^autoscaler +in SLO +quick +slow +GPU-hours/m);
    const document = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'));
    const { trials } = document as ComparedAutoscalers;
    for (const { slo_classes: [quick, slow] = [] } of trials) {
      expect([quick!.name, quick!.slo_attainment]).toEqual(['quick', 0]);
      expect([slow!.name, slow!.slo_attainment]).toEqual(['slow', 1]);
    }
    expect(stdout).toContain(
      'No autoscaler keeps ttft=2s,tpot=50ms for 70 % of the requests, and the targets',
    );
    const [names] = readFileSync(join(folder, 'plan.csv'), 'utf8').split('\n');
    expect(names).toMatch(/policy_faults,in_slo_quick,in_slo_slow$/);
  });

  it('takes the smallest split that keeps the targets of each SLO class too', async () => {
    const mix = ['--slo-classes', '{"quick":{"ttft":80}}', '--slo-mix', 'quick=1'];
    const flags = ['--autoscalers', 'keda:5', '--max', '3P1D', '--attainment', '0.9', '--json'];
    const splitOf = async (...classes: string[]): Promise<ScalingTrial> => {
      const { stdout } = await baton('plan', ...SMALL, ...flags, ...classes);
      const { trials } = JSON.parse(stdout) as ComparedAutoscalers;
      return trials.find(({ topology }) => topology !== null)!;
    };
    const [loose, strict] = [await splitOf(), await splitOf(...mix)];
    expect(loose.topology).toBe('1P1D');
    expect(strict.gpu_hours).toBeGreaterThan(loose.gpu_hours);
    expect(strict.slo_classes?.[0]?.slo_attainment).toBeGreaterThanOrEqual(0.9);
  });

  it.each([
    [['--autoscalers', 'hpa:ttft'], 'autoscaler needs a maximum of engines'],
    [['--autoscalers', 'hpa:ttft,', '--max', '2P2D'], '--autoscalers must be a list'],
    [['--autoscalers', 'fast', '--max', '2P2D'], 'There is no autoscaler "fast"'],
    [['--autoscalers', 'wva', '--max', '2P2D', '--gpus', '4'], '--gpus has no effect with'],
    [['--autoscalers', 'wva', '--max', '1P1D1A'], 'compares prefill and decode engines, or'],
  ])('refuses %j in one sentence', async (flags, complaint) => {
    const { exitCode, stderr } = await baton('plan', ...SMALL, ...flags);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(complaint)]);
  });
});
