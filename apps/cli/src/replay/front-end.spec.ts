import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '@baton/analysis';
import { defaultConfig, recordableConfig } from '@baton/config';
import { recordingHeaderLine } from '@baton/workload';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';
import { virtualTwin } from '../bench/virtual-twin';

const FEW = ['--dataset', 'random', '--num-prompts', '6', '--random-output-len', '4'];
const ONE = [...FEW, '--topology', '1A', '--step-time', 'roofline', '--random-input-len', '100'];

async function replay(...args: string[]): Promise<Summary> {
  const { stdout } = await runCommand('replay', ...args, '--json');
  return JSON.parse(stdout) as Summary;
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-front-end-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One request that a live cluster recorded, with the given options. */
function recordingOf(over: Parameters<typeof defaultConfig>[0]): string {
  const path = join(folder, 'run.jsonl');
  const config = recordableConfig(defaultConfig({ topology: '1A', stepTime: 'roofline', ...over }));
  const header = { version: '0.1.0', startedUs: 0, host: 'here', pid: 1, config };
  const row = '{"arrival_s":0,"prompt_tokens":100,"output_tokens":4}';
  writeFileSync(path, `${recordingHeaderLine(header)}\n${row}\n`);
  return path;
}

describe('the front end of a replay', () => {
  it('is vLLM’s by default, and is reported with its share of the latency', async () => {
    const { front_end, phase_means_ms, config } = await replay(...ONE, '--request-rate', '2');
    expect(front_end).toEqual({
      name: 'vllm',
      request_ms: 5.7,
      prompt_token_us: 6.3,
      dispatch: 'serial',
      request_busy_ms: 5.7,
      prompt_token_busy_us: 2.2,
      api_server_count: 1,
    });
    expect(config).toMatchObject({ frontend: 'vllm' });
    expect(phase_means_ms.front_end).toBeCloseTo(6.33, 3);
  });

  it.each([
    [['--frontend', '{request_ms: 2}'], 2],
    [['--step-time', 'constant', '--time-to-first-token', '50'], undefined],
  ])('has the times of %j', async (flags, ms) => {
    const { phase_means_ms } = await replay(...ONE, '--request-rate', '2', ...flags);
    expect(phase_means_ms.front_end).toBe(ms);
  });

  it('is in the table, the page and the log', async () => {
    const flags = [...ONE, '--request-rate', '2', '--out', folder];
    const { stdout } = await runCommand('replay', ...flags);
    expect(stdout).toContain(
      'front end   vllm: 5.7 ms a request + 6.3 µs a prompt token, serial dispatch; mean 6.33 ms',
    );
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('Front end');
    const [head] = readFileSync(join(folder, 'requests.csv'), 'utf8').split('\n');
    expect(head).toMatch(/,meets_slo,enqueued_us,offered_us$/);
  });

  it('delays the clients of a closed loop', async () => {
    const loop = [...ONE, '--concurrency', '1'];
    const [bare, behind] = [await replay(...loop, '--frontend', 'none'), await replay(...loop)];
    expect(behind.simulated_seconds - bare.simulated_seconds).toBeCloseTo(6 * 0.00633, 5);
  });

  it('is absent for a recording of simulated engines, unless the option is set', async () => {
    const path = recordingOf({});
    expect((await replay('--trace', path)).config).toMatchObject({ frontend: 'none' });
    const asked = await replay('--trace', path, '--frontend', 'vllm');
    expect(asked.config).toMatchObject({ frontend: 'vllm' });
    const chosen = await replay('--trace', recordingOf({ frontend: 'vllm' }));
    expect(chosen.config).toMatchObject({ frontend: 'none' });
  });

  it("is vLLM's for a recording of vLLM's own servers", async () => {
    const path = recordingOf({ executor: 'vllm' });
    expect((await replay('--trace', path)).config).toMatchObject({ frontend: 'vllm' });
  });

  it('is absent for the virtual twin of a benchmark', async () => {
    const workload = { dataset: 'random', numPrompts: '4', requestRate: '4' };
    const flags = { workload, seed: 1 } as unknown as Parameters<typeof virtualTwin>[0];
    expect((await virtualTwin(flags, '1A')).phase_means_ms).not.toHaveProperty('front_end');
  });

  it.each(['vlm', '{request_ms: soon}'])('refuses %s with one sentence', async (given) => {
    const { exitCode, stderr } = await runCommand('replay', ...ONE, '--frontend', given);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^baton: frontend [^\n]+\n$/);
  });
});
