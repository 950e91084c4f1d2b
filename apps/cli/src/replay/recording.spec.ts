import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Comparison } from '@baton/analysis';
import { defaultConfig, recordableConfig } from '@baton/config';
import { recordingHeaderLine, traceLine } from '@baton/workload';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandAnswer, runCommand } from '../../test/test-command';

function replay(...args: string[]): Promise<CommandAnswer> {
  return runCommand('replay', ...args);
}

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-recorded-'));
  path = join(folder, 'run.jsonl');
  writeFileSync(path, recordingOf(20));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * One request per second, each alone: 100 ms to its first token, 10 ms per token after it. The
 * cluster had a speedup of 2.
 */
function recordingOf(requests: number): string {
  const config = recordableConfig(
    defaultConfig({
      topology: '2A',
      speedup: 2,
      stepTime: 'constant',
      timeToFirstToken: 100,
      interTokenLatency: 10,
    }),
  );
  const header = { version: '0.1.0', startedUs: 0, host: 'here', pid: 1, config };
  const rows = Array.from({ length: requests }, (_none, i) => {
    const stamped = { firstTokenUs: 100_000, finishUs: 140_000 };
    const tokens = { tokens: 5, cachedTokens: 0, transferredTokens: 0 };
    return traceLine({
      id: `r${i}`,
      arrivalUs: 7e6 + i * 1e6,
      promptTokens: 100,
      outputTokens: 5,
      measured: {
        outcome: i === 3 ? 'aborted' : 'completed',
        finishReason: i === 3 ? 'abort' : 'length',
        ...tokens,
        prefillEngine: engineOf(i),
        decodeEngine: engineOf(i),
        stamped,
        seen: { firstTokenUs: 102_000, finishUs: 142_000 },
        gapsUs: [[10_000, 4]],
      },
    });
  });
  return `${[recordingHeaderLine(header), ...rows.reverse()].join('\n')}\n`;
}

/** Every fourth request ran on one engine, the others on another. */
function engineOf(i: number): string {
  return i % 4 === 3 ? 'one' : 'other';
}

function resultOf({ stdout }: CommandAnswer): {
  config: Record<string, unknown>;
  comparison?: Comparison;
} {
  return JSON.parse(stdout) as { config: Record<string, unknown>; comparison?: Comparison };
}

describe('the replay of a recorded run', () => {
  it('has its configuration and is compared with it', async () => {
    const answer = await replay('--trace', path, '--json');
    expect(answer.exitCode).toBe(0);
    expect(answer.stderr).toBe(
      'baton: The configuration comes from the recording (baton 0.1.0).\n',
    );
    const { config, comparison } = resultOf(answer);
    expect(config).toMatchObject({ topology: '2A', time_to_first_token: 100 });
    expect(comparison).toMatchObject({
      requests: 19,
      recorded_only: 0,
      simulated_only: 1,
      kept_up: true,
      ttft_ms: {
        recorded: { mean: 102 },
        stamped: { mean: 100 },
        simulated: { mean: 100 },
        error_percent: { mean: -1.96, p50: -1.96, p99: -1.96 },
      },
      tpot_ms: { recorded: { mean: 10 }, error_percent: { mean: 0, p99: 0 } },
      itl_ms: { recorded: { mean: 10 }, stamped: null, error_percent: { mean: 0 } },
      delivery_ms: { mean: 1 },
    });
    expect(Object.keys(resultOf(answer)).slice(-3)).toEqual([
      'comparison',
      'wall_seconds',
      'requests_per_wall_second',
    ]);
  });

  it('reports options that differ', async () => {
    const answer = await replay('--trace', path, '--json', '--topology', '1P1D');
    expect(answer.stderr).toContain('(baton 0.1.0), except --topology 1P1D (recorded: 2A).\n');
    expect(resultOf(answer)).toMatchObject({ config: { topology: '1P1D' } });
    expect(resultOf(answer).comparison?.ttft_ms.error_percent.mean).toBeGreaterThan(5);
  });

  it('shows both runs in the table and in the report', async () => {
    const out = join(folder, 'out');
    const { stdout } = await replay('--trace', path, '--out', out);
    expect(stdout).toMatch(/^TTFT mean +102 ms +100 ms +100 ms +-2\.0 %$/m);
    expect(stdout).toContain('Over 19 requests, 1 more completed simulated only.');
    const page = readFileSync(join(out, 'report.html'), 'utf8');
    expect(page).toContain('Recorded against simulated');
    expect(page).toContain('E2EL recorded and simulated');
    const summary = readFileSync(join(out, 'summary.json'), 'utf8');
    expect(JSON.parse(summary)).toHaveProperty('comparison');
  });

  it('sends requests to their recorded engines on request', async () => {
    const answer = await replay('--trace', path, '--json', '--placement', 'recorded');
    const { engines } = JSON.parse(answer.stdout) as { engines: { finished: number }[] };
    expect(engines.map(({ finished }) => finished)).toEqual([15, 5]);
    expect(resultOf(answer).config).toMatchObject({ placement: 'recorded' });
    expect(resultOf(answer).comparison?.requests).toBe(19);
    const plain = join(folder, 'plain.jsonl');
    writeFileSync(plain, '{"arrival_s":0,"prompt_tokens":1,"output_tokens":1}\n');
    const { exitCode, stderr } = await replay('--trace', plain, '--placement', 'recorded');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--placement recorded needs a trace that `baton up --record` wrote.');
  });

  it('is compared in part when only a part is replayed', async () => {
    const answer = await replay('--trace', path, '--json', '--num-prompts', '3');
    expect(resultOf(answer).comparison).toMatchObject({ requests: 3, simulated_only: 0 });
  });

  it.each([
    ['with --no-compare', ['--no-compare'], false],
    ['when requests arrive at other times', ['--rate-scale', '2'], true],
    ['when clients wait', ['--concurrency', '1'], true],
  ])('is not compared %s', async (_when, flags, isSaid) => {
    const answer = await replay('--trace', path, '--json', ...flags);
    expect(resultOf(answer)).not.toHaveProperty('comparison');
    const isNoted = answer.stderr.includes('because requests arrive at other times');
    expect(isNoted).toBe(isSaid && !flags.includes('--no-compare'));
  });

  it('is still compared on request', async () => {
    const answer = await replay('--trace', path, '--json', '--rate-scale', '2', '--compare');
    expect(resultOf(answer).comparison?.requests).toBe(19);
  });

  it('is compared without its first line on request, with another configuration', async () => {
    writeFileSync(path, recordingOf(5).split('\n').slice(1).join('\n'));
    const plain = await replay('--trace', path, '--json');
    expect(resultOf(plain)).not.toHaveProperty('comparison');
    const compared = await replay('--trace', path, '--json', '--compare');
    expect(resultOf(compared)).toMatchObject({
      config: { topology: '2P2D', frontend: 'none' },
      comparison: { requests: 4, delivery_ms: { mean: 2 } },
    });
  });

  it('is not available from a trace without measurements', async () => {
    writeFileSync(path, '{"arrival_s":0,"prompt_tokens":1,"output_tokens":1}\n');
    const { exitCode, stderr } = await replay('--trace', path, '--compare');
    expect(exitCode).toBe(2);
    expect(stderr).toBe('baton: --compare needs a trace that `baton up --record` wrote.\n');
  });

  it('is refused when it has no requests', async () => {
    writeFileSync(path, recordingOf(0));
    const { exitCode, stderr } = await replay('--trace', path, '--json');
    expect([exitCode, stderr]).toEqual([2, `baton: ${path} has no requests.\n`]);
  });

  it('refuses a faulty line with its number', async () => {
    writeFileSync(path, recordingOf(3).replace('"gaps_us":[[10000,4]]', '"gaps_us":[7]'));
    const { exitCode, stderr } = await replay('--trace', path, '--json');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${path}:2: gaps_us holds 7, which is not a pair`);
  });
});
