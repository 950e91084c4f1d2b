import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BatchAggregates } from '@baton/step-time';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatonConfig, defaultConfig } from '../config';
import { engineSetup } from './engine-factory';
import { operatorFiles } from './operator-files';

const root = mkdtempSync(join(tmpdir(), 'baton-own-operators-'));
let folders = 0;

/** Creates a folder with these tables, by path. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(root, `own-${(folders += 1)}`);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    const isPacked = path.endsWith('.gz');
    writeFileSync(join(folder, path), isPacked ? gzipSync(content) : content);
  }
  return folder;
}

const DECODE: BatchAggregates = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 16,
  decodeContext: 16_000,
  kvUsage: 0,
};
const PLACE = { model: 'llama-3.1-8b', gpu: 'h100', stepTime: 'composed' } as const;
const modelOf = (config: Partial<BatonConfig>) =>
  engineSetup(defaultConfig({ ...PLACE, ...config }), 'decode').options.stepTime;

/** The down-projection of Llama 3.1 8B at 16 rows, in this many µs. */
const down = (us: number): string => `n,k,m,us\n4096,14336,16,${us}\n`;

beforeEach(() => vi.stubEnv('BATON_CACHE_DIR', join(root, 'cache')));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the user’s own operators', () => {
  it('replace the shipped ones in every layer of a step', () => {
    const at = (us: number) =>
      modelOf({ operators: folderOf({ 'h100_sxm/gemm.bf16.csv': down(us) }) }).stepUs(DECODE);
    // 32 layers, each 100 µs longer. A shape that was not measured is interpolated.
    const longerUs = at(300) - at(200);
    expect(longerUs).toBeGreaterThan(3_199);
    expect(longerUs).toBeLessThan(3_300);
  });

  it('are named in the description of the model', () => {
    const operators = folderOf({ 'h100_sxm/gemm.bf16.csv.gz': down(200) });
    expect(modelOf({ operators }).description).toContain(
      `measured operators of h100_sxm with own tables of ${operators} (gemm.bf16), llama-3.1-8b`,
    );
    expect(modelOf({}).description).toContain('measured operators of h100_sxm, llama-3.1-8b');
    expect(modelOf({ operators, gpu: 'h200' }).description).not.toContain('own tables');
  });

  it('have separate tabulated steps by their contents', () => {
    const cache = join(root, 'kept');
    const step = { head: { at: [], us: [] } } as never;
    const of = (us: number) => ({
      cache,
      own: folderOf({ 'h100_sxm/gemm.bf16.csv': down(us) }),
    });
    operatorFiles(of(1)).keep('a', step);
    expect(operatorFiles(of(1)).cached('a')).toEqual(step);
    expect(operatorFiles(of(2)).cached('a')).toBeUndefined();
    expect(operatorFiles({ cache }).cached('a')).toBeUndefined();
  });

  it('give steps of a new GPU, by a systems.json and a GPU that names it', () => {
    const shipped = operatorFiles().texts;
    const systems = JSON.parse(shipped.read('systems.json')!) as Record<string, unknown>;
    const tables = ['gemm.bf16', 'context_attention.bf16_kvbf16', 'generation_attention.kvbf16'];
    const files = tables.map((name) => [
      `mine/${name}.csv.gz`,
      shipped.read(`h100_sxm/${name}.csv`)!,
    ]);
    const operators = folderOf({
      ...(Object.fromEntries(files) as Record<string, string>),
      'systems.json': JSON.stringify({ mine: systems['h100_sxm'] }),
    });
    const gpu = '{memory_gib: 80, memory_gb_per_s: 3350, bf16_tflops: 989, operators: mine}';
    const own = modelOf({ operators, gpu });
    expect(own.method).toBe('composed');
    expect(own.stepUs(DECODE)).toBeCloseTo(modelOf({}).stepUs(DECODE), 6);
    expect(() => modelOf({ gpu })).toThrow('the tables of mine are not there');
  });

  it.each<[Record<string, string>, string]>([
    [{ 'h100_sxm/gemm.bf16.csv': 'n,k,m,ms\n' }, 'gemm.bf16.csv:1: the columns must be n,k,m,us'],
    [{ 'h100_sxm/gemm.bf16.csv': down(-1) }, 'gemm.bf16.csv:2: us must be a time above 0 and up'],
    [{ 'h100_sxm/gemm.bf17.csv': down(1) }, 'gemm.bf17.csv is not named after a table'],
    [{ 'h101/gemm.bf16.csv': down(1) }, 'h101 is not the folder of a known system (a100_sxm,'],
    [{ 'h100_sxm/readme.txt': '' }, 'has no table: write <system>/<operator>.csv'],
    [{ 'systems.json': '{' }, 'systems.json cannot be read: '],
    [{ 'systems.json': '[]' }, 'systems.json must be a map of systems.'],
    [{ 'systems.json': '{"m": {"gpu": {}}}' }, 'm lacks gpu.mem_bw, a number above 0.'],
  ])('%j is refused in one sentence', (files, sentence) => {
    expect(() => modelOf({ operators: folderOf(files) })).toThrow(sentence);
  });

  it('is a folder', () => {
    expect(() => modelOf({ operators: '/nowhere' })).toThrow('operators /nowhere is not a folder.');
  });
});
