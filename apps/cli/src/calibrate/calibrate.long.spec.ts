import { decodeStep, prefillStep, stepLogLine } from '@baton/calibration';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig, engineSetup } from '@baton/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../program';

const folder = mkdtempSync(join(tmpdir(), 'baton-calibrate-'));
const path = (name: string) => join(folder, name);

interface Told {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function baton(...args: string[]): Promise<Told> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  const exitCode = await runProgram(args);
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

/** Steps of 4 ms + 10 µs per token and the usual attention. */
function logOf(): string {
  const decodes = [1, 4, 16, 64].flatMap((seqs) =>
    [100, 1000, 4000].map((context) =>
      decodeStep(seqs, seqs * context, 4 + 0.03 * seqs + 4e-5 * seqs * context),
    ),
  );
  const prompts = [32, 128, 512, 2048, 8192].map((tokens) =>
    prefillStep({ tokens, ms: 4 + 0.01 * tokens + 4e-7 * tokens ** 2 }),
  );
  return [...decodes, ...prompts].map((step) => `${stepLogLine(step)}\n`).join('');
}

const LOG = path('steps.jsonl');
writeFileSync(LOG, logOf());

const OWN_MODEL = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  torch_dtype: 'bfloat16',
  hidden_size: 2048,
  intermediate_size: 8192,
  num_hidden_layers: 16,
  vocab_size: 128256,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  max_position_embeddings: 8192,
};

afterEach(() => vi.restoreAllMocks());

describe('baton calibrate', () => {
  it('prints the error of each phase, fitted and held out, and the valid range', async () => {
    const { exitCode, stdout, stderr } = await baton('calibrate', '--input', LOG);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('calibrated model, 17 points of');
    expect(stdout).toMatch(
      /fitted to +points +R² +mean error +largest error\n +prefill +\d+ +[01]\.\d/,
    );
    expect(stdout).toMatch(/held out \(every 5th, seed 0\)[^]*decode +\d+/);
    expect(stdout).toContain('decoding sequences 1 to 64');
    expect(stdout).toContain('--out FILE writes the profile.');
  });

  it('shows the progress of reading and of each fit on stderr, with the remaining time', async () => {
    const log = path('many-steps.jsonl');
    writeFileSync(log, logOf().repeat(150));
    const server = ['--model', 'llama-3.1-8b', '--gpu', 'h100', '--tp', '1'];
    for (const fit of ['calibrated', 'factors']) {
      let nowMs = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 11_000));
      const { stderr } = await baton('calibrate', '--input', log, ...server, '--fit', fit);
      expect(stderr).toMatch(/^baton: reading \d+ %, about \d+ s left$/m);
      expect(stderr).toMatch(/^baton: fitting \d+ %, about \d+ s left$/m);
    }
  });

  it('writes a profile that engines load, without times and folders', async () => {
    const out = path('profile.yaml');
    const flags = ['--model', 'llama-3.1-8b', '--gpu', 'h100', '--tp', '1', '--out', out];
    const { stdout } = await baton('calibrate', '--input', LOG, ...flags, '--fit', 'calibrated');
    expect(stdout).not.toContain('Default fit');
    expect(stdout).toContain(
      `wrote ${out}: use it with --step-time calibrated --step-time-file ${out}`,
    );
    const yaml = readFileSync(out, 'utf8');
    expect(yaml).toContain('steps.jsonl (baton-log)');
    expect(yaml).not.toContain(folder);
    expect(yaml).toMatch(/provenance:\n +date: 20\d\d-\d\d-\d\d\n +baton: /);
    expect(yaml).toMatch(/sha256: [0-9a-f]{64}/);
    const { stepTime } = engineSetup(defaultConfig({ stepTimeFile: out }), 'decode').options;
    const ms = stepTime.stepUs({ ...decodeStep(10, 5000, 1), kvUsage: 0 }) / 1000;
    expect(ms).toBeCloseTo(4 + 0.3 + 0.2, 1);
    const other = defaultConfig({ stepTimeFile: out, quantization: 'fp8' });
    expect(() => engineSetup(other, 'decode')).toThrow(
      'The step-time profile was fitted for bf16, KV cache bf16, not for fp8, KV cache bf16.',
    );
  });

  it('names the formats of the measured server in the profile', async () => {
    const flags = ['--model', 'llama-3.1-8b', '--gpu', 'h100', '--quantization', 'fp8'];
    const out = path('fp8.yaml');
    await baton('calibrate', '--input', LOG, ...flags, '--kv-cache-dtype', 'fp8', '--out', out);
    expect(readFileSync(out, 'utf8')).toContain('precision: fp8, KV cache fp8\n');
  });

  it('takes the files of a model and a GPU, as a replay with the profile does', async () => {
    const model = path('own-model');
    mkdirSync(model);
    writeFileSync(join(model, 'config.json'), JSON.stringify(OWN_MODEL));
    const gpu = path('own-gpu.yaml');
    writeFileSync(gpu, '{name: my-gpu, memory_gib: 80, memory_gb_per_s: 3000, bf16_tflops: 900}\n');
    const out = path('own-files.yaml');
    const flags = ['--model', model, '--gpu', gpu, '--out', out];
    const { stderr } = await baton('calibrate', '--input', LOG, ...flags);
    expect(stderr).toBe('');
    expect(readFileSync(out, 'utf8')).toMatch(/model: own-model\ngpu: my-gpu\n/);
    const config = defaultConfig({ model, gpu, stepTimeFile: out });
    expect(engineSetup(config, 'decode').options.stepTime.method).toBe('calibrated');
  });

  it('prints the same as JSON, and equal bytes every time', async () => {
    const args = ['calibrate', '--input', LOG, '--json', '--seed', '3'];
    const { stdout } = await baton(...args);
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(result)).toEqual([
      'fit',
      'fit_reason',
      'inputs',
      'hold_out',
      'fitted',
      'held_out',
      'profile',
    ]);
    expect(result['hold_out']).toEqual({ every: 5, seed: 3 });
    expect((await baton(...args)).stdout).toBe(stdout);
  });

  it('prints the error of own operators, or the faulty line', async () => {
    const own = path('operators');
    mkdirSync(join(own, 'h100_sxm'), { recursive: true });
    const file = join(own, 'h100_sxm', 'gemm.bf16.csv');
    const rows = [1, 2, 4, 8, 16, 32].map((m) => `4096,4096,${m},${10 + m}`);
    writeFileSync(file, ['n,k,m,us', ...rows].join('\n'));
    const flags = ['--operators', own, '--hold-out', '2'];
    const { exitCode, stdout } = await baton('calibrate', ...flags);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/h100_sxm gemm\.bf16 +6 +3 +\d+\.\d\d % +-?\d+\.\d\d %\n/);
    const json = JSON.parse((await baton('calibrate', ...flags, '--json')).stdout) as object;
    expect(json).toMatchObject({ tables: [{ name: 'gemm.bf16', points: 6, held_out: 3 }] });
    writeFileSync(file, 'n,k,m,us\n1,1,1,0\n');
    const outcome = await baton('calibrate', ...flags);
    expect([outcome.exitCode, outcome.stdout]).toEqual([2, '']);
    expect(outcome.stderr).toContain(`${file}:2: us must be a time above 0`);
  });

  describe('without --fit', () => {
    const named = ['--model', 'llama-3.1-8b', '--tp', '1'];
    const fitOf = async (...flags: string[]) => {
      const { stdout } = await baton('calibrate', '--input', LOG, '--json', ...flags);
      const { fit, fit_reason } = JSON.parse(stdout) as { fit: string; fit_reason: string };
      return [fit, fit_reason];
    };

    it('fits factors where the steps of the server compose, and says so', async () => {
      const flags = [...named, '--gpu', 'h100'];
      expect(await fitOf(...flags)).toEqual([
        'factors',
        'Steps of this server can be composed. --fit calibrated fits all parameters.',
      ]);
      const { stdout } = await baton('calibrate', '--input', LOG, ...flags);
      expect(stdout).toMatch(
        /^factors model, .*\nDefault fit: Steps of this server can be composed\./,
      );
      expect(stdout).toMatch(/prefill × [\d.]+ ± [\d.e-]+\n/);
    });

    it('fits all parameters where no step can be composed, with the reason', async () => {
      const gpu = path('unmeasured-gpu.yaml');
      writeFileSync(
        gpu,
        '{name: other, memory_gib: 80, memory_gb_per_s: 3000, bf16_tflops: 900}\n',
      );
      const [fit, reason] = await fitOf(...named, '--gpu', gpu);
      expect([fit, reason]).toEqual(['calibrated', expect.stringContaining('can be composed: ')]);
    });

    it.each([
      [[], '--model, --gpu, --tp not given. With them, three factors'],
      [['--model', 'llama-3.1-8b', '--gpu', 'h100'], '--tp not given. With them, three factors'],
      [[...named, '--gpu', 'h100', '--overhead-ms', '2'], '--overhead-ms is only for this form.'],
    ])('fits all parameters with %j', async (flags, sentence) => {
      const [fit, reason] = await fitOf(...flags);
      expect([fit, reason]).toEqual(['calibrated', expect.stringContaining(sentence)]);
    });
  });

  describe('--fit factors', () => {
    const PLACE = { model: 'llama-3.1-8b', gpu: 'h100', tensorParallelSize: 1 } as const;
    const FLAGS = ['--model', PLACE.model, '--gpu', PLACE.gpu, '--tp', '1', '--fit', 'factors'];
    const log = path('own-steps.jsonl');
    const out = path('own.yaml');

    /**
     * A server that takes 1.25 times the composed time for prefill, 1.1 times for decode, and 1 ms
     * more.
     */
    function writeSteps(): void {
      const config = defaultConfig({ ...PLACE, stepTime: 'composed', stepOverheadMs: 0 });
      const { stepTime } = engineSetup(config, 'aggregated').options;
      const ms = (step: object): number => stepTime.stepUs(step as never) / 1_000;
      const prompts = [64, 256, 512, 1024, 2048, 4096, 8192].map((tokens) => {
        const step = prefillStep({ tokens, ms: 1 });
        return { ...step, ms: 1.25 * ms(step) + 1 };
      });
      const decodes = [1, 4, 16, 32, 64, 128].map((seqs) => {
        const step = decodeStep(seqs, 1_000 * seqs, 1);
        return { ...step, ms: 1.1 * ms(step) + 1 };
      });
      const lines = [...prompts, ...decodes].map((step) => `${stepLogLine(step)}\n`);
      writeFileSync(log, lines.join(''));
    }

    it('fits three factors with errors, and writes the source of the measurements', async () => {
      writeSteps();
      const outcome = await baton('calibrate', '--input', log, ...FLAGS, '--out', out);
      expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
      expect(outcome.stdout).toMatch(/prefill × 1\.25\d* ± [\d.e-]+\n/);
      expect(outcome.stdout).toMatch(/decode × 1\.1\d* ± /);
      expect(outcome.stdout).toMatch(/held out[^]*prefill|decode/);
      const yaml = readFileSync(out, 'utf8');
      expect(yaml).toMatch(/provenance:\n +date: 20\d\d-\d\d-\d\d\n +baton: /);
      expect(yaml).toMatch(/sha256: [0-9a-f]{64}/);
      expect(yaml).not.toContain(folder);
      const config = defaultConfig({ ...PLACE, stepTime: 'auto', stepTimeFile: out });
      const { stepTime } = engineSetup(config, 'decode').options;
      const bare = defaultConfig({ ...PLACE, stepTime: 'composed', stepOverheadMs: 0 });
      const batch = { ...decodeStep(20, 30_000, 1), kvUsage: 0 };
      const composedUs = engineSetup(bare, 'decode').options.stepTime.stepUs(batch);
      expect(stepTime.stepUs(batch)).toBeCloseTo(1.1 * composedUs + 1_000, -1);
      expect(stepTime.method).toBe('calibrated');
    });

    it('writes a profile over own operators that is valid only with them', async () => {
      const operators = path('own-operators');
      mkdirSync(join(operators, 'h100_sxm'), { recursive: true });
      const file = join(operators, 'h100_sxm', 'gemm.bf16.csv');
      writeFileSync(file, 'n,k,m,us\n4096,4096,16,30\n4096,4096,32,31\n');
      const over = path('over.yaml');
      const own = ['--operators', operators, '--out', over];
      const outcome = await baton('calibrate', '--input', log, ...FLAGS, ...own);
      expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
      expect(outcome.stdout).toMatch(/80 % of held-out steps +prefill|decode/);
      const given = { ...PLACE, stepTime: 'auto', stepTimeFile: over } as const;
      const setup = (config: object) => engineSetup(defaultConfig(config), 'decode');
      expect(setup({ ...given, operators }).options.stepTime.method).toBe('calibrated');
      expect(() => setup(given)).toThrow('fitted over your own operators');
      expect(() => setup({ ...given, stepTimeFile: out, operators })).toThrow('the shipped operat');
    });

    it('applies to the composed steps of the deployment', async () => {
      const fitted = { ...PLACE, stepTime: 'auto', stepTimeFile: out } as const;
      const bare = { ...PLACE, stepTime: 'composed', stepOverheadMs: 0 } as const;
      const us = (config: object): number => {
        const batch = { ...decodeStep(20, 30_000, 1), kvUsage: 0 };
        return engineSetup(defaultConfig(config), 'decode').options.stepTime.stepUs(batch);
      };
      for (const own of [{ asyncScheduling: false }, { enforceEager: true }]) {
        expect(us({ ...fitted, ...own })).toBeCloseTo(1.1 * us({ ...bare, ...own }) + 1_000, -1);
      }
      expect(us({ ...fitted, stepOverheadMs: 3 })).toBeCloseTo(1.1 * us(bare) + 3_000, -1);
    });

    it('writes the framework and the ranks of the measured server', async () => {
      const other = path('sglang.yaml');
      const flags = ['--framework', 'sglang', '--data-parallel-size', '2', '--out', other];
      const outcome = await baton('calibrate', '--input', log, ...FLAGS, ...flags);
      expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
      expect(readFileSync(other, 'utf8')).toContain('framework: sglang\ndata_parallel_size: 2\n');
      const config = { ...PLACE, stepTime: 'auto', stepTimeFile: other } as const;
      expect(() => engineSetup(defaultConfig(config), 'decode')).toThrow(
        'The step-time profile was fitted for sglang, not for vllm.',
      );
      const same = defaultConfig({ ...config, framework: 'sglang' });
      expect(engineSetup(same, 'decode').options.stepTime.method).toBe('calibrated');
    });

    it.each([
      [{ framework: 'sglang' }, 'fitted for vllm, not for sglang'],
      [{ gpu: 'h200' }, 'fitted for llama-3.1-8b on h100 TP1, not for llama-3.1-8b on h200 TP1.'],
      [{ quantization: 'fp8' }, 'fitted for bf16, KV cache bf16, not for fp8'],
    ] as const)('writes a profile that is refused for %j', (other, sentence) => {
      const config = defaultConfig({ ...PLACE, ...other, stepTime: 'auto', stepTimeFile: out });
      expect(() => engineSetup(config, 'decode')).toThrow(sentence);
    });
  });

  it('fits transfers and the steps of xPyD-sim, and writes its profile', async () => {
    const points = path('points.yaml');
    const lines = [
      'prefill:',
      ...[100, 1000, 3000].map((t) => `  - {batch_size: ${t}, delay_ms: ${5 + 0.02 * t}}`),
      'kv_transfer:',
      ...[100, 1000, 3000].map((t) => `  - {batch_size: ${t}, delay_ms: ${2 + 0.003 * t}}`),
      'decode:',
      ...[1, 4, 16].flatMap((b) =>
        [100, 500, 900].map(
          (c) =>
            `  - {batch_size: ${b}, context_length: ${c}, delay_per_token_ms: ` +
            `${6 + 0.1 * b + 0.001 * c}}`,
        ),
      ),
    ];
    writeFileSync(points, lines.join('\n'));
    const out = path('xpyd-profile.yaml');
    const args = ['--fit', 'polynomial', '--hold-out', '0', '--out', out];
    const { exitCode, stdout } = await baton('calibrate', '--input', points, ...args);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      '--kv-cache-transfer-latency 2ms --kv-cache-transfer-time-per-token 0.003ms',
    );
    const config = defaultConfig({ stepTime: 'polynomial', stepTimeFile: out });
    const { link, options } = engineSetup(config, 'prefill');
    expect(link.baseLatencyUs).toBe(2000);
    const ms =
      options.stepTime.stepUs({ ...prefillStep({ tokens: 700, ms: 1 }), kvUsage: 0 }) / 1000;
    expect(ms).toBeCloseTo(19, 3);
  });

  it('reports unused parts of a file on stderr', async () => {
    const bench = path('bench.json');
    const run = {
      completed: 10,
      total_input_tokens: 1000,
      total_output_tokens: 500,
      median_itl_ms: 8,
    };
    writeFileSync(
      bench,
      JSON.stringify({ ...run, max_concurrency: 4, mean_itl_ms: 8, output_throughput: 400 }),
    );
    const { exitCode, stderr } = await baton('calibrate', '--input', LOG, bench);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'bench.json (not saved with --save-detailed): it has no times of single',
    );
    const alone = await baton('calibrate', '--input', bench);
    expect(alone.exitCode).toBe(2);
    expect(alone.stderr).toContain(
      'The points cannot be fitted: 1 of decode are all of the same batch',
    );
  });

  it.each<[string[], string]>([
    [
      [],
      'baton: There is nothing to fit. Add --input FILE…, or --live to measure a running cluster; ',
    ],
    [
      ['--input', LOG, '--rounds', '3'],
      'baton: --rounds has no effect without --live. Remove it.\n',
    ],
    [['--input', LOG, '--max-num-seqs', '3'], 'baton: --max-num-seqs has no effect without'],
    [['--input', LOG, '--live'], 'baton: --live measures a cluster. Remove --input.\n'],
    [['--live', '--fit', 'factors'], 'baton: --fit factors needs --model and --gpu'],
    [
      '--live --fit factors --model qwen3-8b --gpu h100 --prefill-gpu h200'.split(' '),
      'baton: prefill_gpu is set, but factors are over composed steps that are equal for all',
    ],
    [['--live', '--max-num-seqs', 'few'], 'baton: --max-num-seqs must be an integer from 1 to'],
    [['--input', 'absent.csv'], 'baton: absent.csv cannot be read: ENOENT'],
    [['--input', LOG, '--format', 'xml'], 'baton: --format must be one of csv, xpyd,'],
    [['--input', LOG, '--fit', 'spline'], 'baton: --fit must be one of calibrated, factors,'],
    [['--input', LOG, '--gpu', 'h1000'], "baton: Unknown GPU 'h1000'. Nearest known: h100"],
    [['--input', LOG, '--fit', 'factors'], 'baton: --fit factors needs --model and --gpu'],
    [['--input', LOG, '--quantization', 'fp8'], 'baton: --quantization needs --model and --gpu.'],
    [
      ['--input', LOG, '--framework', 'sglang'],
      'baton: --framework has no effect without --fit factors. Remove it.',
    ],
    [['--input', LOG, '--tp', '0'], "baton: --tp must be an integer from 1; '0' is not.\n"],
    [['--input', LOG, '--hold-out', '1'], 'baton: --hold-out 1 leaves no points to fit'],
    [
      ['--input', LOG, '--modle', 'x'],
      "baton: unknown option '--modle'; did you mean '--model'?\n",
    ],
  ])('refuses %j with one sentence and exit code 2', async (args, sentence) => {
    const { exitCode, stderr } = await baton('calibrate', ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('fails when the profile cannot be written', async () => {
    const { exitCode, stderr } = await baton('calibrate', '--input', LOG, '--out', folder);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('cannot be written (it is a folder)');
  });
});
