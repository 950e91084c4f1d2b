import { profileToFile } from '@baton/step-time';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { type BatonConfig, defaultConfig } from '../config';
import { engineSetup } from './engine-factory';
import { checkExtrapolation } from './extrapolation';

const folder = mkdtempSync(join(tmpdir(), 'baton-profile-'));

function fileWith(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const PROFILE = fileWith(
  'profile.yaml',
  stringify(
    profileToFile({
      linear: { tokens: [1, 4096], ms: [5, 45] },
      decodeAttentionMs: [0, 0.01, 1e-5],
      prefillAttentionMs: [0, 1e-7],
      overheadMs: 0.5,
      mixedDecodeFactor: 2,
      valid: {
        stepTokens: [1, 4096],
        prefillTokens: [64, 4096],
        prefillQuadraticMax: 8192 ** 2 - 4096 ** 2,
        decodeSeqs: [1, 64],
        decodeContextMax: 200_000,
      },
    }),
  ),
);
const XPYD = fileWith(
  'xpyd.yaml',
  'prefill: {type: poly1d, coefficients: [0, 0.02, 5]}\nkv_transfer: {type: poly1d, ' +
    'coefficients: [0, 0.003, 2]}\n',
);
const BLIS = fileWith('blis.yaml', 'beta_coeffs: [0, 0, 0, 0, 0, 0, 250]\n');
const TABLE = fileWith(
  'grid.csv',
  'prefill_isl,prefill_ttft_ms,decode_active_kv_tokens,decode_context_length,decode_itl\n1,' +
    '2,3,4,5\n',
);

const DECODE = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 10,
  decodeContext: 10_000,
  kvUsage: 0.1,
};

const setupOf = (overrides: Partial<BatonConfig>) =>
  engineSetup(defaultConfig(overrides), 'aggregated');
const modelOf = (overrides: Partial<BatonConfig>) => setupOf(overrides).options.stepTime;

afterEach(() => vi.restoreAllMocks());

describe('a step-time file', () => {
  it.each<[BatonConfig['stepTime'], string, string]>([
    ['calibrated', PROFILE, 'calibrated any model'],
    ['auto', PROFILE, 'calibrated any model'],
    ['polynomial', XPYD, 'polynomial'],
    ['auto', XPYD, 'polynomial'],
    ['blis', BLIS, 'BLIS'],
    ['auto', BLIS, 'BLIS'],
    ['table', TABLE, 'planner profile'],
    ['auto', TABLE, 'planner profile'],
  ])('is the model of step_time %s in %s', (stepTime, stepTimeFile, description) => {
    expect(modelOf({ stepTime, stepTimeFile }).description).toContain(description);
  });

  it('keeps its own overhead and mixed factor by default', () => {
    const decodeMs = 5 + (9 * 40) / 4095 + 0.1 + 0.1;
    const at = (overrides: Partial<BatonConfig>) =>
      modelOf({ stepTimeFile: PROFILE, ...overrides }).stepUs(DECODE) / 1000;
    expect(at({})).toBeCloseTo(decodeMs + 0.5, 9);
    expect(at({ stepOverheadMs: 3 })).toBeCloseTo(decodeMs + 3, 9);
  });

  it('may also time transfers, unless options do', () => {
    const linkOf = (overrides: Partial<BatonConfig>) =>
      setupOf({ stepTimeFile: XPYD, ...overrides }).link;
    expect(linkOf({}).baseLatencyUs).toBe(2000);
    expect(linkOf({ kvCacheTransferLatency: 9 }).baseLatencyUs).toBe(9000);
    expect(linkOf({ stepTime: 'roofline' }).name).toBe('infiniband-ndr');
  });

  it.each<[Partial<BatonConfig>, string]>([
    [{ stepTime: 'table' }, 'step_time table needs step_time_file.'],
    [{ stepTime: 'calibrated', stepTimeFile: XPYD }, 'which holds a model of kind polynomial.'],
    [{ stepTimeFile: join(folder, 'absent') }, 'absent cannot be read: ENOENT: no such'],
    [{ stepTimeFile: fileWith('bad.yaml', 'a: [1\n') }, 'cannot be read: Flow sequence'],
    [
      { stepTimeFile: fileWith('perf.npz', 'PK\u0003\u0004...') },
      'write the arrays of an NPZ as CSV',
    ],
    [{ stepTimeFile: fileWith('text.yaml', 'hello\n') }, 'it is not a mapping'],
  ])('is refused in one sentence: %j', (overrides, sentence) => {
    expect(() => setupOf(overrides)).toThrow(sentence);
  });

  it('scales with the load in llm-d’s definition', () => {
    const model = modelOf({
      stepTime: 'constant',
      interTokenLatency: 10,
      timeFactorUnderLoad: 3,
      maxNumSeqs: 10,
    });
    expect(model.stepUs(DECODE)).toBe(30_000);
  });
});

describe('a step outside of the range', () => {
  it('is reported once for each stage on stderr, with range and value, and counted', () => {
    const written: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    const model = modelOf({ stepTimeFile: PROFILE });
    model.stepUs({ ...DECODE, decodeSeqs: 65 });
    model.stepUs({ ...DECODE, decodeSeqs: 66 });
    modelOf({ stepTimeFile: PROFILE }).stepUs({ ...DECODE, decodeSeqs: 65 });
    const { stepTime } = engineSetup(defaultConfig({ stepTimeFile: PROFILE }), 'decode').options;
    stepTime.stepUs({ ...DECODE, decodeSeqs: 70 });
    const line = (stage: string, value: number): string =>
      `baton: warning: ${stage} engines: decoding sequences: ${value} is outside 1 to 64, the ` +
      'range for which the step-time model was measured or fitted; its answers there are ' +
      'extrapolations.\n';
    expect(written).toEqual([line('aggregated', 65), line('decode', 70)]);
    expect(model.stepsOutsideRange).toBe(2);
  });

  it('is refused with step_time_extrapolation refuse', () => {
    const model = modelOf({ stepTimeFile: PROFILE, stepTimeExtrapolation: 'refuse' });
    expect(() => model.stepUs({ ...DECODE, decodeSeqs: 65 })).toThrow('Refused to extrapolate');
    expect(model.stepUs(DECODE)).toBeGreaterThan(0);
  });
});

describe('checked ahead of time', () => {
  const refusing: Partial<BatonConfig> = {
    stepTimeFile: PROFILE,
    stepTimeExtrapolation: 'refuse',
    maxModelLen: 8192,
    maxNumBatchedTokens: 4096,
    maxNumSeqs: 64,
    numGpuBlocksOverride: 12_501,
  };
  const check = (overrides: Partial<BatonConfig>, longestPrompt?: number) => () =>
    checkExtrapolation(setupOf({ ...refusing, ...overrides }), 'aggregated', {
      everyBatch: longestPrompt === undefined,
      ...(longestPrompt === undefined ? {} : { longestPrompt }),
    });

  it('accepts an engine whose largest batches stay within the range', () => {
    expect(check({})).not.toThrow();
    expect(check({ stepTimeExtrapolation: 'warn', maxNumSeqs: 4096 })).not.toThrow();
    expect(check({ stepTimeFile: undefined, stepTime: 'roofline' })).not.toThrow();
  });

  it.each<[Partial<BatonConfig>, string]>([
    [{ maxNumSeqs: 65 }, 'decoding sequences: 65'],
    [{ maxModelLen: 8193 }, 'attention of prompts in tokens²'],
    [{ maxNumBatchedTokens: 4097 }, 'tokens per step: 4,097'],
    [{ numGpuBlocksOverride: 12_502 }, 'context tokens of a decode step: 200,016'],
  ])('refuses an engine, and names the bound: %j', (overrides, sentence) => {
    expect(check(overrides)).toThrow(sentence);
  });

  it('covers only the longest prompt of a known workload', () => {
    expect(check({ maxModelLen: 100_000, maxNumSeqs: 4096 }, 8192)).not.toThrow();
    expect(check({ maxModelLen: 100_000 }, 8193)).toThrow('attention of prompts');
  });
});
