import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-calibrate-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Told {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function baton(...args: string[]): Promise<Told> {
  return new Promise((resolve) => {
    execFile(process.execPath, [BATON, ...args], (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

describe('baton calibrate --live', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.start({ topology: '1P1D', flags: [...PLAIN_STEPS] });
  });
  afterAll(() => cluster.stop());

  const live = (...args: string[]): Promise<Told> =>
    baton('calibrate', '--live', '--base-url', cluster.baseUrl, ...args);

  it('measures a cluster, compares a load with its replay, and saves step times', async () => {
    const grid = ['--prompt-lengths', '16,64,256', '--decode-batches', '1,2'];
    const shape = ['--decode-contexts', '16,64', '--rounds', '1', '--load-requests', '8'];
    const [out, points] = [join(folder, 'profile.yaml'), join(folder, 'points.csv')];
    const files = ['--out', out, '--save-points', points];
    // A busy machine disturbs 8 requests by any factor; the exit code follows from this limit.
    const limit = ['--max-error', '1e6'];
    const { exitCode, stdout, stderr } = await live(...grid, ...shape, ...files, ...limit);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain(`${cluster.baseUrl} as 1P1D`);
    expect(stdout).toContain('Default fit: --model, --gpu, --tp not given.');
    expect(stdout).toMatch(/^overhead +\S+ m?µ?s a request/m);
    expect(stdout).toMatch(/^KV +131 kB a token \(vllm:nixl_bytes_transferred\)$/m);
    expect(stdout).toMatch(
      /8 of 8 requests answered\n\(Poisson, \S+ a second, prompts of 16 to 255/,
    );
    for (const name of ['TTFT p50', 'TTFT p99', 'ITL p50', 'TPOT mean', 'E2EL p50', 'requests']) {
      expect(stdout).toMatch(new RegExp(`^${name} +\\S+ .+ [+−]\\S+ %$`, 'm'));
    }
    expect(stderr).toMatch(/prompt of 64 tokens: first token after \S+ ms/);
    expect(readFileSync(out, 'utf8')).toContain('kind: calibrated');
    const again = await baton('calibrate', '--input', points, '--hold-out', '0');
    expect(again.stdout).toContain('calibrated model, ');
  });

  it('fits factors on composed steps to a server whose deployment is given', async () => {
    const grid = ['--prompt-lengths', '16,64,256', '--decode-batches', '1,2'];
    const shape = ['--decode-contexts', '16,64', '--rounds', '1', '--load-requests', '0'];
    const deployment = ['--model', 'llama-3.1-8b', '--gpu', 'h100', '--tp', '1'];
    const { exitCode, stdout, stderr } = await live(...grid, ...shape, ...deployment);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('factors model, ');
    expect(stdout).toContain('Default fit: Steps of this server can be composed.');
    expect(stdout).toMatch(/^ {2}prefill × \S+ ± \S+$/m);
  });

  it('refuses a cluster with running requests', async () => {
    const leave = new AbortController();
    const body = { prompt: 'x', max_tokens: 4_000, ignore_eos: true };
    const other = stream(`${cluster.baseUrl}/v1/completions`, body, leave.signal).catch(() => 0);
    await waitUntil(async () => (await cluster.sumOf('running')) > 0, { what: 'it runs' });
    const { exitCode, stderr } = await live('--quick');
    leave.abort();
    await other;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/is busy: 1 requests run or wait there/);
  });

  it('reports an address without a server in one sentence', async () => {
    const { exitCode, stderr } = await baton('calibrate', '--live', '--base-url', 'http://[::1]:1');
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([1, 1]);
    expect(stderr).toContain('No server answers at http://[::1]:1');
  });
});
