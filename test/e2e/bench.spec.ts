import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { benchOutput } from '../support/bench-output';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { ReferenceServer } from '../support/reference-server';
import { waitUntil } from '../support/wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
const answers = join(folder, 'answers.jsonl');
afterAll(() => rmSync(folder, { recursive: true }));

interface Result {
  readonly completed: number;
  readonly failed: number;
  readonly total_input_tokens: number;
  readonly total_output_tokens: number;
  readonly server_prompt_tokens: number;
  readonly server_cached_tokens: number;
  readonly median_ttft_ms: number;
  readonly median_e2el_ms: number;
  readonly unfinished: number;
  readonly was_interrupted: boolean;
  readonly output_lens: readonly number[];
  readonly errors: readonly string[];
}

async function bench(...args: string[]): Promise<Result> {
  const stdout = await benchOutput([process.execPath, BATON, 'bench', ...args, '--json']);
  return JSON.parse(stdout) as Result;
}

describe('baton bench against a cluster', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    const flags = [...PLAIN_STEPS, '--record-answers', answers];
    cluster = await TestCluster.start({ topology: '1P1D', flags });
  });
  afterAll(() => cluster.stop());

  const RANDOM = ['--dataset', 'random', '--random-range-ratio', '0.3', '--random-input-len', '40'];
  const load = (...args: string[]): Promise<Result> =>
    bench('--base-url', cluster.baseUrl, '--random-output-len', '20', ...args);

  /** Sum of a counter over all engines. */
  async function total(family: string): Promise<number> {
    const text = await (await fetch(`${cluster.baseUrl}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${family}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  it.each(['openai', 'openai-chat', 'responses'])(
    'receives the requested lengths over %s, and measures the delays of the engines',
    async (backend) => {
      const before = await total('vllm:generation_tokens_total');
      const flags = ['--num-prompts', '40', '--request-rate', '20', '--random-output-len', '30'];
      const result = await load(...RANDOM, ...flags, '--backend', backend, '--save-detailed');
      expect(result.errors.filter(Boolean)).toEqual([]);
      expect(result).toMatchObject({ completed: 40, failed: 0 });
      if (backend === 'openai') {
        expect(result.server_prompt_tokens).toBe(result.total_input_tokens);
      }
      expect(new Set(result.output_lens).size).toBeGreaterThan(5);
      expect(Math.min(...result.output_lens)).toBeGreaterThanOrEqual(21);
      expect(Math.max(...result.output_lens)).toBeLessThanOrEqual(39);
      const generated = async (): Promise<number> =>
        (await total('vllm:generation_tokens_total')) - before;
      await waitUntil(async () => (await generated()) >= result.total_output_tokens, {
        what: 'the metrics know of every token',
      });
      // Prefill computes one token per request that no client receives.
      expect(await generated()).toBeLessThanOrEqual(result.total_output_tokens + 40);
      // A prompt takes 20 ms and a token 5 ms. A slow machine makes the first token later, never
      // earlier.
      expect(result.median_ttft_ms).toBeGreaterThan(25);
      expect(result.median_e2el_ms).toBeGreaterThan(25 + 20 * 5);
    },
  );

  it('finds the common prefix of its prompts in the caches of the cluster', async () => {
    const shape = ['--prefix-repetition-prefix-len', '64', '--prefix-repetition-suffix-len', '16'];
    const prefixes = ['--dataset', 'shared-prefix', '--prefix-repetition-num-prefixes', '2'];
    const flags = ['--num-prompts', '30', '--max-concurrency', '1'];
    const { server_cached_tokens: cached } = await load(...prefixes, ...shape, ...flags);
    expect(cached).toBe(28 * 64);
  });

  it('sends conversations whose history the caches hold', async () => {
    const turns = ['--multi-turn-turns', '3', '--multi-turn-think-time', '0', '--num-prompts', '3'];
    const lengths = ['--random-input-len', '64'];
    const result = await load('--dataset', 'multi-turn', ...turns, ...lengths);
    expect(result.completed).toBe(3);
    expect(result.server_prompt_tokens).toBe(result.total_input_tokens);
    // Full blocks of 16 of the first 64 + 20 and 148 + 20 tokens, less the tokens that prefill
    // never had.
    expect(result.server_cached_tokens).toBeGreaterThanOrEqual(64 + 144);
  });

  it('sends the requests of a recording again', async () => {
    const lines = (): string[] => readFileSync(answers, 'utf8').trim().split('\n');
    const before = lines().length;
    const sent = await load(...RANDOM, '--num-prompts', '5', '--backend', 'openai-chat');
    expect(sent.completed).toBe(5);
    await waitUntil(() => lines().length >= before + 5, {
      what: 'all that was sent is in the file',
    });
    const recorded = lines();
    const recording = ['--dataset', 'recorded', '--dataset-path', answers];
    const again = await bench('--base-url', cluster.baseUrl, ...recording, '--rate-scale', '20');
    expect(again).toMatchObject({ completed: recorded.length, failed: 0 });
  });
});

describe('baton bench', () => {
  it('reports the results so far on Ctrl-C', async () => {
    const server = await ReferenceServer.start();
    const child = spawn(
      process.execPath,
      [
        ...[BATON, 'bench', '--base-url', server.origin, '--dataset', 'random', '--json'],
        ...['--num-prompts', '1000', '--request-rate', '20', '--random-output-len', '4'],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const printed = collect(child);
    await waitUntil(async () => (await server.stamps('bench-')).length > 5, {
      what: 'some requests have been sent',
    });
    child.kill('SIGINT');
    const [exitCode] = (await once(child, 'exit')) as [number];
    const result = JSON.parse(printed()) as Result;
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({ was_interrupted: true, failed: 0 });
    expect(result.completed).toBeGreaterThan(0);
    expect(result.completed + result.unfinished).toBe(1000);
    await server.stop();
  });
});

describe('npm run demo', () => {
  const start = (out: string, ...flags: string[]): ChildProcess =>
    spawn('npm', ['run', '--silent', 'demo', '--', '1P1D', '--out', out, ...flags], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, REDIS_URL: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it('starts a cluster, loads it, and ends with the path of a report', async () => {
    const out = join(folder, 'demo');
    const child = start(out, '--num-prompts', '20', '--random-output-len', '8');
    const printed = collect(child);
    const [exitCode] = (await once(child, 'exit')) as [number];
    const isVoid = printed().includes('VOID: ');
    expect(exitCode).toBe(isVoid ? 3 : 0);
    expect(printed()).toMatch(/Successful requests: +20\n/);
    expect(printed().trimEnd().split('\n').at(-1)).toBe(`report: ${join(out, 'report.html')}`);
    expect(printed()).toMatch(/^median TTFT +\S+ m?s +\S+ m?s$/m);
    expect(printed().split('\n').length).toBeLessThan(50);
    expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain('<!doctype html>');
  });

  it('ends all its processes on Ctrl-C', async () => {
    const out = join(folder, 'interrupted');
    const child = start(out, '--num-prompts', '2000');
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const port = (): string | undefined => /ready at http:\S+:(\d+)/.exec(said)?.[1];
    await waitUntil(() => port() !== undefined, {
      what: 'the cluster is ready',
    });
    for (const pid of demoPids(child.pid ?? 0)) process.kill(pid, 'SIGINT');
    const [exitCode] = (await once(child, 'exit')) as [number];
    expect(exitCode).toBe(1);
    await expect(fetch(`http://127.0.0.1:${port()}/health/live`)).rejects.toThrow();
    expect(existsSync(join(out, 'report.html'))).toBe(true);
    expect(readdirSync(out)).toHaveLength(3);
  });
});

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

/**
 * The pids of the terminal's process group: npm's descendants without the cluster, which has a
 * group of its own.
 */
function demoPids(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const groupOf = (each: number): string | undefined => {
    const stat = readFileSync(`/proc/${each}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2];
  };
  const below = children === '' ? [] : children.split(' ').map(Number);
  const same = below.filter((each) => groupOf(each) === groupOf(pid));
  return [pid, ...same.flatMap(demoPids)];
}
