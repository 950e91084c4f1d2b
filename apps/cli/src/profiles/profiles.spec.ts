import { decodeStep, prefillStep, stepLogLine } from '@baton/calibration';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../program';

const folder = mkdtempSync(join(tmpdir(), 'baton-profiles-'));
const path = (name: string) => join(folder, name);

async function baton(...args: string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  const exitCode = await runProgram(args);
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

const OWN = path('own.yaml');
writeFileSync(
  OWN,
  `kind: factors
model: llama-3.1-8b
gpu: h100
tensor_parallel_size: 1
factors: {prefill: 1.25, decode: 1.1, constant_ms: 1}
standard_errors: {prefill: 0.01, decode: 0.02, constant_ms: 0.1}
error_percent: {decode: {mean: 1.5, max: 4}}
provenance: {date: 2026-01-02, baton: 0.1.0, files: [{file: steps.jsonl, sha256: abc}]}
`,
);
const STEPS = path('steps.jsonl');
const MEASURED = [decodeStep(4, 4_000, 9), decodeStep(16, 16_000, 11)];
writeFileSync(
  STEPS,
  [...MEASURED, prefillStep({ tokens: 512, ms: 20 })].map((s) => `${stepLogLine(s)}\n`).join(''),
);
writeFileSync(path('other.yaml'), 'a: b\n');

afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

describe('baton profiles', () => {
  it('lists own profiles of a folder, shipped ones, and composable placements', async () => {
    const { exitCode, stdout } = await baton('profiles', 'list', folder, '--json');
    expect(exitCode).toBe(0);
    const rows = JSON.parse(stdout) as Record<string, string>[];
    expect(rows[0]).toMatchObject({
      gpu: 'h100',
      model: 'llama-3.1-8b',
      tp: '1',
      method: 'factors',
      mean_error: 'decode 1.5 %',
      source: `${OWN}: steps.jsonl, 2026-01-02`,
    });
    const methods = new Set(rows.slice(1).map(({ method }) => method));
    expect([...methods]).toEqual(['calibrated', 'composed']);
    expect((await baton('profiles', 'list')).stdout).toMatch(/A100-SXM-80GB +Llama-3.1-8B +1 +cal/);
  });

  it('shows a profile with its errors, its source and its step times', async () => {
    const { exitCode, stdout } = await baton('profiles', 'show', OWN);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('prefill × 1.25, decode × 1.1, 1 ms per step');
    expect(stdout).toContain('source           steps.jsonl, 2026-01-02');
    expect(stdout).toMatch(/64 sequences +[\d.]+ ms/);
  });

  it('shows a deployment without a file', async () => {
    const flags = ['--model', 'llama-3.1-8b', '--gpu', 'h200', '--json'];
    const { stdout } = await baton('profiles', 'show', ...flags);
    const shown = JSON.parse(stdout) as { method: string; decode_ms: { ms: number[][] } };
    expect(shown.method).toBe('composed');
    const [first, ...others] = shown.decode_ms.ms;
    expect(others.at(-1)!.at(-1)).toBeGreaterThan(first![0]!);
  });

  it('plots step times with the measured points, as one page', async () => {
    const out = path('own.html');
    const outcome = await baton('profiles', 'plot', OWN, '--points', STEPS, '--out', out);
    expect([outcome.exitCode, outcome.stdout]).toEqual([0, `wrote ${out}\n`]);
    const page = readFileSync(out, 'utf8');
    expect(page).toContain('16 sequences, measured');
    expect(page).toContain('one prompt');
    expect(page).not.toMatch(/(src|href)="https?:/);
  });

  it.each<[string[], string]>([
    [['draw'], "baton: <action> must be list, show or plot; 'draw' is not.\n"],
    [['show'], 'baton: The deployment is missing. Add a profile file, or --model and --gpu.\n'],
    [['show', OWN, '--gpu', 'h200'], 'was fitted for llama-3.1-8b on h100 TP1, not for'],
    [['show', path('other.yaml')], 'other.yaml: The step-time profile cannot be used'],
    [
      ['show', path('none.yaml')],
      `baton: There is no profile file ${path('none.yaml')}. Give a file`,
    ],
    [
      ['show', 'llama-3.1-8b'],
      'is a model, not a profile file. Write --model llama-3.1-8b and --gpu',
    ],
    [
      ['show', 'h100'],
      'baton: h100 is a GPU, not a profile file. Write --model NAME and --gpu h100',
    ],
    [['show', OWN, OWN], `baton: profiles show accepts one profile. Remove ${OWN}, or name`],
    [
      ['show', OWN, '--chart', 'decode'],
      'baton: --chart has no effect on profiles show. Remove it.',
    ],
    [['list', '--step-time', 'auto'], '--step-time has no effect on profiles list. Remove it.'],
    [['list', path('none')], `baton: There is no file or folder ${path('none')}. Without`],
    [['plot', OWN], 'baton: profiles plot needs --out FILE.html or --out FILE.svg.\n'],
    [['plot', OWN, '--out', path('a.svg'), '--chart', 'x'], '--chart must be decode or prefill'],
  ])('refuses %j with one sentence and exit code 2', async (args, sentence) => {
    const { exitCode, stderr } = await baton('profiles', ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
