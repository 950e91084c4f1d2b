import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatonConfig, defaultConfig } from '../config';
import { engineSetup } from './engine-factory';

const root = mkdtempSync(join(tmpdir(), 'baton-step-noise-'));
const PLACE = { model: 'llama-3.1-8b', gpu: 'h100' } as const;
const noiseOf = (config: Partial<BatonConfig>) => {
  const given = defaultConfig({ ...PLACE, stepNoise: 'measured', ...config });
  return engineSetup(given, 'decode').options.stepNoise;
};

const QUANTILES = Array.from({ length: 16 }, (_, i) => 0.8 + i * 0.02);

function profileWith(noise: string): string {
  const file = join(root, 'profile.yaml');
  const lines = [
    'kind: calibrated',
    'linear: {tokens: [1, 4096], ms: [6, 80]}',
    'decode_attention_ms: [0, 0, 0]',
    'prefill_attention_ms: [0, 0]',
    'overhead_ms: 0',
  ];
  writeFileSync(file, [...lines, noise, ''].join('\n'));
  return file;
}

/** This many measurements of each of two points, 10 % to both sides of their mean. */
function ownTables(times: number): string {
  const folder = join(root, `own-${times}`);
  mkdirSync(join(folder, 'h100_sxm'), { recursive: true });
  const rows = [16, 32].flatMap((m) =>
    Array.from({ length: times }, (_, i) => `4096,14336,${m},${i % 2 === 0 ? 180 : 220}`),
  );
  writeFileSync(join(folder, 'h100_sxm', 'gemm.bf16.csv'), ['n,k,m,us', ...rows].join('\n'));
  return folder;
}

beforeEach(() => vi.stubEnv('BATON_CACHE_DIR', join(root, 'cache')));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('step_noise measured', () => {
  it('uses the spread of a profile; none uses none', () => {
    const stepTimeFile = profileWith(`noise: {decode: [${QUANTILES.join(', ')}]}`);
    expect(noiseOf({ stepTimeFile })).toEqual({ decode: QUANTILES, prefill: undefined });
    expect(noiseOf({ stepTimeFile, stepNoise: 'none' })).toBeUndefined();
  });

  it('uses the spread of own operators that were measured several times', () => {
    const { decode, prefill } = noiseOf({ operators: ownTables(40) })!;
    expect(prefill).toEqual(decode);
    // 10 % to both sides, widened by √(40 / 39).
    expect(decode![0]).toBeCloseTo(1 - 0.1 * Math.sqrt(40 / 39), 4);
    expect(decode!.at(-1)).toBeCloseTo(1 + 0.1 * Math.sqrt(40 / 39), 4);
  });

  it.each<[string, () => Partial<BatonConfig>]>([
    ['shipped operators', () => ({})],
    ['a profile without one', () => ({ stepTimeFile: profileWith('') })],
    ['too few measurements', () => ({ operators: ownTables(4) })],
    ['constant times', () => ({ stepTime: 'constant' })],
  ])('is refused in one sentence for %s', (_, config) => {
    expect(() => noiseOf(config())).toThrow(/^step_noise measured needs a measured spread, and /);
  });

  it.each([
    ['noise: {decode: [1, 1]}', 'decode of noise must be 16 factors above 0 that do not fall'],
    [`noise: {decode: [${QUANTILES.toReversed().join(', ')}]}`, 'that do not fall'],
    ['held_out_factors: {decode: {low: 2, high: 1}}', 'decode of held_out_factors must have a low'],
  ])('a profile with %s is refused', (line, sentence) => {
    expect(() => noiseOf({ stepTimeFile: profileWith(line) })).toThrow(sentence);
  });
});
