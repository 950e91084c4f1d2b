import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '@baton/analysis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';
import { SpillFile } from './spill-file';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-spill-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LOAD = ['--dataset', 'random', '--num-prompts', '400', '--request-rate', '20'];
const REPLAY = ['replay', '--topology', '1P1D', ...LOAD, '--json'];
const LATENCIES = ['ttft_ms', 'tpot_ms', 'e2el_ms'] as const;
const SHARES = ['p50', 'p90', 'p95', 'p99'] as const;

async function replayed(...flags: string[]): Promise<{ summary: Summary; csv: string }> {
  const out = join(folder, `out${flags.length}`);
  const { exitCode, stdout, stderr } = await runCommand(...REPLAY, '--out', out, ...flags);
  expect(exitCode, stderr).toBe(0);
  const csv = readFileSync(join(out, 'requests.csv'), 'utf8');
  return { summary: JSON.parse(stdout) as Summary, csv };
}

describe('a replay whose log is in a file', () => {
  it('has the same requests, means and maxima, and percentiles at most 0.4 % off', async () => {
    const whole = await replayed();
    const spilled = await replayed('--spill', folder);
    expect(spilled.csv).toBe(whole.csv);
    for (const name of LATENCIES) {
      const [ours, exact] = [spilled.summary[name], whole.summary[name]];
      expect([ours.mean, ours.max]).toEqual([exact.mean, exact.max]);
      // Exact percentiles lie between two of the 400 requests, counted ones at one of them.
      for (const share of SHARES) {
        expect(Math.abs(ours[share]! / exact[share]! - 1), `${name} ${share}`).toBeLessThan(0.02);
      }
    }
    const rest = ({ summary }: typeof whole) => [summary.completed, summary.phase_means_ms];
    expect(rest(spilled)).toEqual(rest(whole));
  });

  it('leaves no file behind', async () => {
    const into = join(folder, 'new', 'spill');
    await runCommand(...REPLAY, '--spill', into);
    expect(readdirSync(into)).toEqual([]);
  });

  it('is refused before the trace is read when the folder cannot be written', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const given = ['--trace', join(folder, 'missing.jsonl'), '--topology', '1A', '--spill', file];
    const { exitCode, stderr } = await runCommand('replay', ...given);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`--spill ${file} cannot be written (`);
  });

  it('is refused beside --follow', async () => {
    const given = ['--trace', 'x', '--shadow', 'least-tokens', '--follow', '5', '--spill'];
    const { exitCode, stderr } = await runCommand('replay', ...given);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--follow keeps its log in memory. Remove --spill.');
  });
});

describe('a file of blocks', () => {
  it('returns at each place what was written there last', () => {
    const file = new SpillFile(folder);
    const first = file.write(Uint8Array.of(1, 2, 3), undefined);
    const second = file.write(Uint8Array.of(4, 5), undefined);
    file.write(Uint8Array.of(6, 7, 8), first);
    const [one, two] = [new Uint8Array(3), new Uint8Array(2)];
    file.read(one, first);
    file.read(two, second);
    expect([[...one], [...two]]).toEqual([
      [6, 7, 8],
      [4, 5],
    ]);
  });
});
