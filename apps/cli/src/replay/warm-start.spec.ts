import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '@baton/analysis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';

let folder = '';
let saved = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-warm-start-'));
  saved = join(folder, 'caches.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const REQUESTS = 30;

/** A file in Mooncake's format whose requests come in pairs that share two of three blocks. */
function traceOf(name: string, fromS: number, copies = 1): string {
  const lines = Array.from({ length: REQUESTS * copies }, (_, i) => {
    const which = i % REQUESTS;
    const timestamp = (fromS + i) * 1_000;
    const hash_ids = [5_000, 6_000 + (which >> 1), 7_000 + which];
    return JSON.stringify({ timestamp, input_length: 1_600, output_length: 4, hash_ids });
  });
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  return join(folder, name);
}

const CLUSTER = ['--topology', '1A', '--step-time', 'roofline', '--json'];

async function replayed(trace: string, ...flags: string[]) {
  const { exitCode, stdout, stderr } = await runCommand(
    'replay',
    '--trace',
    trace,
    ...CLUSTER,
    ...flags,
  );
  expect(exitCode, stderr).toBe(0);
  return { summary: JSON.parse(stdout) as Summary, stdout, stderr };
}

describe('a replay that begins with a cache', () => {
  it('finds at least as many blocks as the second half of the doubled trace', async () => {
    const trace = traceOf('once.jsonl', 0);
    const cold = await replayed(trace, '--save-cache', saved);
    const warm = await replayed(trace, '--warm-start', saved);
    const twice = await replayed(traceOf('twice.jsonl', 0, 2));
    const cachedIn = ({ summary }: typeof cold): number => summary.engines[0]!.prompt_tokens_cached;
    expect(cachedIn(warm)).toBeGreaterThanOrEqual(cachedIn(twice) - cachedIn(cold));
    expect(cachedIn(warm)).toBeGreaterThan(cachedIn(cold));
    expect(warm.summary.config).toMatchObject({ warm_start: saved });
  });

  it('uses the ids of the trace, and reports caches of another trace', async () => {
    await replayed(traceOf('monday.jsonl', 0), '--save-cache', saved);
    const { hash_ids, ...rest } = JSON.parse(
      readFileSync(join(folder, 'monday.jsonl'), 'utf8').split('\n').at(-2)!,
    ) as { hash_ids: number[]; timestamp: number };
    const tuesday = join(folder, 'tuesday.jsonl');
    const lines = [[1, 2, 3], hash_ids].map((ids) => JSON.stringify({ ...rest, hash_ids: ids }));
    writeFileSync(tuesday, `${lines.join('\n')}\n`);
    const { summary, stderr } = await replayed(tuesday, '--warm-start', saved);
    expect(summary.engines[0]!.prompt_tokens_cached).toBe(3 * 512);
    expect(stderr).toContain(
      `The caches are from ${join(folder, 'monday.jsonl')}: equal ids count as equal contents.`,
    );
  });

  it('is the cold one, byte for byte, when the caches are empty', async () => {
    const trace = traceOf('once.jsonl', 0);
    const [cold, warm] = [join(folder, 'cold'), join(folder, 'warm')];
    const { summary } = await replayed(trace, '--save-cache', saved, '--out', cold);
    const file = JSON.parse(readFileSync(saved, 'utf8')) as { engines: { blocks: number[] }[] };
    for (const engine of file.engines) engine.blocks = [];
    writeFileSync(saved, JSON.stringify(file));
    const again = await replayed(trace, '--warm-start', saved, '--out', warm);
    const csv = (out: string): string => readFileSync(join(out, 'requests.csv'), 'utf8');
    expect(csv(warm)).toBe(csv(cold));
    const { wall_seconds: _w, requests_per_wall_second: _r, config, ...rest } = again.summary;
    expect(summary).toMatchObject(rest);
    expect(config).toEqual({ ...summary.config, warm_start: saved });
  });

  it.each([
    [['--topology', '2A'], 'was saved with topology 1A, and this replay has 2A.'],
    [['--model', 'qwen3-8b'], 'was saved with model llama-3.1-8b, and this replay has qwen3-8b.'],
    [['--block-size', '16'], 'was saved with block_size 512, and this replay has 16.'],
  ])('is refused with %j', async (flags, sentence) => {
    const trace = traceOf('once.jsonl', 0);
    await replayed(trace, '--save-cache', saved);
    const other = CLUSTER.filter((_, i) => flags[0] !== '--topology' || i > 1);
    const asked = ['--trace', trace, ...other, ...flags, '--warm-start', saved];
    const { exitCode, stderr } = await runCommand('replay', ...asked);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`baton: --warm-start ${saved} ${sentence}\n`);
  });

  it('is refused for a file of another kind', async () => {
    const trace = traceOf('once.jsonl', 0);
    const refusal = async (): Promise<string> =>
      (await runCommand('replay', '--trace', trace, ...CLUSTER, '--warm-start', saved)).stderr;
    expect(await refusal()).toBe(`baton: --warm-start ${saved}: the file cannot be read.\n`);
    for (const [text, reason] of [
      ['engines: []', 'it is not JSON.'],
      ['{"engines":[]}', 'it is not a file that --save-cache wrote.'],
      [
        '{"baton_caches":1,"engines":[{"role":"prefill","index":0,"blocks":[-1]}]}',
        'it is not a file',
      ],
    ] as const) {
      writeFileSync(saved, text);
      expect(await refusal()).toContain(`baton: --warm-start ${saved}: ${reason}`);
    }
  });
});

describe('a replay whose engines fetch the cache of a peer', () => {
  const JOINS = ['--changes', '15s:+1A', '--startup-duration', '1', '--placement', 'round-robin'];

  it('finds more prompts on the engine that joins', async () => {
    const trace = traceOf('once.jsonl', 0);
    const cold = await replayed(trace, ...JOINS);
    const warm = await replayed(trace, ...JOINS, '--warm-start', 'peer');
    const joined = ({ summary }: typeof cold): number => summary.engines[1]!.prompt_tokens_cached;
    expect(joined(warm)).toBeGreaterThan(joined(cold));
    expect(warm.summary.config).toMatchObject({ warm_start: 'peer' });
  });

  it('is refused where no engine joins', async () => {
    const asked = ['--trace', traceOf('once.jsonl', 0), ...CLUSTER, '--warm-start', 'peer'];
    const { exitCode, stderr } = await runCommand('replay', ...asked);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--warm-start peer is for engines that join. Add --changes or');
  });
});

describe('the caches of a dataset', () => {
  const asked = (seed: string, rate: string): string[] => [
    ...['replay', '--dataset', 'shared-prefix', '--num-prompts', '20', '--seed', seed],
    ...['--request-rate', rate, ...CLUSTER],
  ];

  it('are used at another rate, and refused with another seed', async () => {
    await runCommand(...asked('1', '5'), '--save-cache', saved);
    const warm = await runCommand(...asked('1', '9'), '--warm-start', saved);
    expect(warm.exitCode).toBe(0);
    const other = await runCommand(...asked('2', '5'), '--warm-start', saved);
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toContain('seed=1, and this replay has shared-prefix');
  });
});
