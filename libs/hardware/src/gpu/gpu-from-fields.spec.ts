import { describe, expect, it } from 'vitest';
import { gpuFromFields } from './gpu-from-fields';

const LEAST = { memory_gib: 80, memory_gb_per_s: 2000, bf16_tflops: 400 };

describe('a GPU of the user', () => {
  it('needs memory, its rate and the rate of computing, and has no FP8 units by default', () => {
    const gpu = gpuFromFields(LEAST, 'mine.yaml');
    expect(gpu).toMatchObject({ flopsPerSecond: 4e14, memoryBytesPerSecond: 2e12 });
    expect(gpu.memoryBytes).toBe(80 * 2 ** 30);
    expect(gpu.fp8Factor).toBeUndefined();
    expect(gpuFromFields({ ...LEAST, fp8_tflops: 800 }, 'mine.yaml').fp8Factor).toBe(2);
  });

  it.each([
    [[], 'GPU mine.yaml cannot be used: it is not a map of fields.'],
    [{ ...LEAST, memory: 1 }, "'memory' is not one of its fields (name, operators, interconnect, "],
    [{ memory_gib: 80, bf16_tflops: 1 }, "cannot be used: it has no 'memory_gb_per_s'."],
    [{ ...LEAST, memory_gib: '80' }, "'memory_gib' must be a number from 1 to 10000."],
    [{ ...LEAST, memory_efficiency: 2 }, "'memory_efficiency' must be a number from 0.01 to 1."],
    [{ ...LEAST, interconnect: 'tape' }, "'interconnect' must be one of nvlink, pcie, "],
    [{ ...LEAST, name: 3 }, "'name' must be a text."],
  ])('is refused as %j in one sentence that names the field', (fields, sentence) => {
    expect(() => gpuFromFields(fields, 'mine.yaml')).toThrow(sentence);
  });
});
