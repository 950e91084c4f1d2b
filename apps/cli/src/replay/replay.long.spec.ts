import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CommandAnswer, runCommand } from '../../test/test-command';

function replay(...args: string[]): Promise<CommandAnswer> {
  return runCommand('replay', ...args);
}

const RANDOM = ['--dataset', 'random', '--num-prompts', '60', '--request-rate', '8'];
const CLUSTER = ['--topology', '2P2D', '--random-input-len', '400', '--random-output-len', '40'];

/** The document without the two lines that depend on the wall clock. */
function lasting(json: string): string {
  return json.replace(/ *"(wall_seconds|requests_per_wall_second)": .*\n/g, '');
}

function ttftOf({ stdout }: CommandAnswer): unknown {
  return (JSON.parse(stdout) as { ttft_ms: unknown }).ttft_ms;
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-replay-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe('baton replay --json', () => {
  it('prints only one document, with the names of a result', async () => {
    const { exitCode, stdout, stderr } = await replay(...RANDOM, ...CLUSTER, '--json');
    expect([exitCode, stderr]).toEqual([0, '']);
    const result = JSON.parse(stdout) as Record<string, unknown>;
    for (const name of [
      ...['requests', 'completed', 'rejected', 'failed', 'simulated_seconds', 'wall_seconds'],
      ...['requests_per_wall_second', 'steps', 'slo_attainment', 'goodput_rps'],
      ...['goodput_rps_per_gpu', 'prefix_hit_rate', 'kv_transfer_bytes', 'preemptions', 'engines'],
    ]) {
      expect(result).toHaveProperty(name);
    }
    for (const name of ['ttft_ms', 'tpot_ms', 'itl_ms', 'e2el_ms']) {
      expect(Object.keys(result[name] as object)).toEqual([
        'mean',
        'p50',
        'p90',
        'p95',
        'p99',
        'max',
      ]);
    }
    expect(result).toMatchObject({ requests: 60, completed: 60, rejected: 0, failed: 0, gpus: 4 });
    expect(result['engines']).toHaveLength(4);
    expect(result['config']).toMatchObject({
      topology: '2P2D',
      model: 'llama-3.1-8b',
      workload: { source: 'random', num_prompts: '60', requests: 60 },
    });
  });

  it('prints equal bytes for equal seeds, and others for another seed', async () => {
    const one = await replay(...RANDOM, ...CLUSTER, '--json');
    const same = await replay(...RANDOM, ...CLUSTER, '--json');
    const other = await replay(...RANDOM, ...CLUSTER, '--json', '--seed', '2');
    expect(lasting(same.stdout)).toBe(lasting(one.stdout));
    expect(ttftOf(other)).not.toEqual(ttftOf(one));
  });

  it('gives equal latencies of requests with --no-leap', async () => {
    const leaped = JSON.parse((await replay(...RANDOM, ...CLUSTER, '--json')).stdout) as object;
    const stepped = (await replay(...RANDOM, ...CLUSTER, '--json', '--no-leap')).stdout;
    for (const name of ['ttft_ms', 'tpot_ms', 'e2el_ms', 'steps', 'simulated_seconds']) {
      expect((JSON.parse(stepped) as Record<string, unknown>)[name]).toEqual(
        (leaped as Record<string, unknown>)[name],
      );
    }
  });

  it('measures goodput against an SLO', async () => {
    const { stdout } = await replay(...RANDOM, ...CLUSTER, '--json', '--slo', 'ttft=10s,tpot=1us');
    expect(JSON.parse(stdout)).toMatchObject({
      slo: 'ttft=10s,tpot=1us',
      slo_attainment: 0,
      goodput_rps: 0,
      slo_attainment_by_objective: { ttft: 1, tpot: 0 },
    });
  });

  it('is an error without requests', async () => {
    const { exitCode, stdout, stderr } = await replay(
      ...['--dataset', 'random', '--num-prompts', '0', '--json'],
    );
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toBe('baton: --num-prompts 0 leaves no request.\n');
  });

  it('counts a prompt that can never fit as refused', async () => {
    const trace = join(folder, 'long.jsonl');
    const line = (timestamp: number, input: number): string =>
      `${JSON.stringify({ timestamp, input_length: input, output_length: 4, hash_ids: [] })}\n`;
    writeFileSync(trace, line(0, 100) + line(5, 900_000));
    const { stdout } = await replay('--trace', trace, '--trace-format', 'mooncake', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ requests: 2, completed: 1, refused: 1 });
  });
});

describe('clients of a closed loop', () => {
  it('with think time take longer in total, and the result has the think time', async () => {
    const loop = ['--dataset', 'random', '--num-prompts', '60', ...CLUSTER, '--concurrency', '4'];
    const timeOf = async (...more: string[]) => {
      const { stdout } = await replay(...loop, ...more, '--json');
      return JSON.parse(stdout) as { simulated_seconds: number; config: object };
    };
    const bare = await timeOf();
    const thinking = await timeOf('--think-time', '2s');
    expect(bare.config).not.toHaveProperty('think_time_ms');
    expect(thinking.config).toMatchObject({ concurrency: 4, think_time_ms: 2_000 });
    // 15 requests of each client, with 14 pauses of two seconds on average between them.
    expect(thinking.simulated_seconds).toBeGreaterThan(bare.simulated_seconds + 14);
  });
});

describe('baton replay', () => {
  it('prints a table', async () => {
    const { exitCode, stdout } = await replay(...RANDOM, ...CLUSTER);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Replay of random on 2P2D: llama-3.1-8b, h100, 4 GPUs, seed 0\n/);
    expect(stdout).toMatch(/^TTFT +[\d.]+ m?s/m);
  });

  it('creates the folder for its files', async () => {
    const out = join(folder, 'new', 'result');
    const flags = ['--json', '--out', out, '--perfetto'];
    const { exitCode, stdout, stderr } = await replay(...RANDOM, ...CLUSTER, ...flags);
    expect(exitCode).toBe(0);
    expect(readdirSync(out).sort()).toEqual([
      'report.html',
      'requests.csv',
      'summary.json',
      'trace.json',
    ]);
    expect(stderr).toContain('wrote summary.json, requests.csv, report.html, trace.json');
    expect(readFileSync(join(out, 'summary.json'), 'utf8')).toBe(stdout);
    expect(readFileSync(join(out, 'requests.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(61);
    const trace = JSON.parse(readFileSync(join(out, 'trace.json'), 'utf8')) as {
      traceEvents: { ph: string }[];
    };
    const phases = new Set(trace.traceEvents.map(({ ph }) => ph));
    expect([...phases].sort()).toEqual(['C', 'M', 'X', 'b', 'e']);
  });

  it('fails with one sentence when it cannot write', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { exitCode, stderr } = await replay(...RANDOM, ...CLUSTER, '--json', '--out', file);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^baton: --out .* cannot be written \(.*\n$/);
  });

  it.each([
    [
      ['--gpu', 'h100', '--quantization', 'nvfp4'],
      'no units for NVFP4. Possible quantization: none, fp8, ',
    ],
    [
      ['--gpu', 'a100', '--quantization', 'fp8'],
      'no units for FP8. Possible quantization: none, mxfp4, ',
    ],
    [['--model', 'llama-3.1-70b'], 'tensor_parallel_size 2 would do, which is 2 h100 per engine.'],
    [
      ['--model', 'llama-3.1-405b', '--gpu', 'l4'],
      'no engine of one node of these GPUs is large enough',
    ],
    [['--gpu', '{memory_gib: 80}'], "GPU fields cannot be used: it has no 'memory_gb_per_s'."],
    [['--gpu', './absent.yaml'], 'gpu ./absent.yaml does not exist.'],
    [
      ['--vllm-version', 'old'],
      "--vllm-version must be a text like 0.30, from 0.11 on; 'old' is not.",
    ],
  ])('refuses %j with the valid values', async (flags, sentence) => {
    const { exitCode, stderr } = await replay(...RANDOM, ...CLUSTER, ...flags);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('runs on a GPU that a file or fields describe, by the roofline', async () => {
    const file = join(folder, 'mine.yaml');
    writeFileSync(file, 'name: mine\nmemory_gib: 64\nmemory_gb_per_s: 2000\nbf16_tflops: 400\n');
    const byFile = await replay(...RANDOM, ...CLUSTER, '--gpu', file, '--json');
    const fields = '{memory_gib: 64, memory_gb_per_s: 2000, bf16_tflops: 400}';
    const byFields = await replay(...RANDOM, ...CLUSTER, '--gpu', fields, '--json');
    expect(byFile.stdout).toContain('"method": "estimated"');
    expect(byFile.stdout).toContain('roofline llama-3.1-8b on mine TP1');
    expect(ttftOf(byFields)).toEqual(ttftOf(byFile));
  });

  it('lists the shipped traces', async () => {
    const { exitCode, stdout } = await replay('--trace', 'list');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^mooncake-conversation$/m);
  });

  it.each([
    [['--slo', 'ttft=2'], '--slo: SLO "ttft=2" needs a unit, us, ms or s'],
    [['--concurrency', '0'], '--concurrency must be an integer from 1 to'],
    [['--think-time', '5ms'], '--think-time needs a closed loop. Add --concurrency.'],
    [['--concurrency', '2', '--think-time', '5'], "such as 5ms; '5' is not"],
    [['--concurrency', '2', '--think-time', '2h'], "such as 5ms; '2h' is not"],
    [['--perfetto'], '--perfetto writes a file. Add --out DIR.'],
    [['--tp', '2', '--tensor-parallel-size', '2'], '--tp and --tensor-parallel-size are the same'],
    [['--topology', '3Q'], 'Topology "3Q" is not understood'],
    [['--gpu', 'h1000'], 'h1000'],
    [['--rate-scal', '2'], "unknown option '--rate-scal'; did you mean '--rate-scale'?"],
  ])('refuses %j with one sentence and exit code 2', async (flags, sentence) => {
    const { exitCode, stdout, stderr } = await replay(...RANDOM, ...flags);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^baton: [^\n]+\n$/);
    expect(stderr).toContain(sentence);
  });
});
