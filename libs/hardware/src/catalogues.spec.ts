import { describe, expect, it } from 'vitest';
import {
  findGpu,
  findLink,
  findModel,
  GPUS,
  HardwareError,
  linkFromTiming,
  LINKS,
  MODELS,
} from './';

const CATALOGUES = [
  ['model', MODELS, findModel],
  ['GPU', GPUS, findGpu],
  ['link', LINKS, findLink],
] as const;

describe.each(CATALOGUES)('the %s catalogue', (kind, entries, find) => {
  it('finds each entry by its name and aliases, and has no name twice', () => {
    const seen = new Map<string, string>();
    for (const entry of entries) {
      for (const name of [entry.name, ...entry.aliases]) {
        expect(find(name).name).toBe(entry.name);
        expect(seen.get(name) ?? entry.name).toBe(entry.name);
        seen.set(name, entry.name);
      }
    }
  });

  it('suggests the nearest known names for an unknown one', () => {
    const known = entries[0]!.name;
    const failure = () => find(`${known}x`);
    expect(failure).toThrow(HardwareError);
    expect(failure).toThrow(`Unknown ${kind} '${known}x'. Nearest known: ${known},`);
  });
});

describe('names', () => {
  it('may differ in case and punctuation, and may begin with an organisation', () => {
    expect(findModel('meta-llama/Llama-3.1-8B-Instruct').name).toBe('llama-3.1-8b');
    expect(findModel('Qwen/Qwen3_30B_A3B').name).toBe('qwen3-30b-a3b');
    expect(findModel('deepseek-ai/DeepSeek-R1').name).toBe('deepseek-v3');
    expect(findModel('meta-llama/Llama-3.3-70B-Instruct').name).toBe('llama-3.1-70b');
    expect(findGpu('H100-SXM-80GB').name).toBe('h100');
    expect(findLink('InfiniBand NDR').name).toBe('infiniband-ndr');
  });
});

describe('the figures', () => {
  it('lie within the possible ranges of a GPU and a link', () => {
    for (const gpu of GPUS) {
      const { layerOverheadUs, ...parts } = gpu.efficiency;
      for (const part of Object.values(parts)) expect(part > 0 && part < 1).toBe(true);
      expect(layerOverheadUs).toBeGreaterThan(0);
      expect(gpu.memoryBytesPerSecond).toBeGreaterThan(gpu.interconnect.bytesPerSecond);
    }
    for (const link of LINKS) expect(link.bytesPerSecond).toBeGreaterThan(1e9);
  });
});

describe('linkFromTiming', () => {
  it('takes the given time per token and latency', () => {
    const link = linkFromTiming({ latencyMs: 2, perTokenMs: 0.01, kvBytesPerToken: 131_072 });
    expect(link.baseLatencyUs).toBe(2000);
    expect((1000 * 131_072) / link.bytesPerSecond).toBeCloseTo(0.01, 12);
  });

  it('has an unlimited rate when only a latency is given', () => {
    expect(1e12 / linkFromTiming({ latencyMs: 5, kvBytesPerToken: 1 }).bytesPerSecond).toBe(0);
  });
});
