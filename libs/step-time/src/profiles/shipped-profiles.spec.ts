import { findGpu, findModel, servedIn } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { buildStepTimeModel } from '../build-step-time-model';

const gpu = findGpu('h100');
const build = (
  kind: 'auto' | 'calibrated',
  formats: Parameters<typeof servedIn>[2] = {},
): string | undefined => {
  const model = servedIn(findModel('llama-3.1-8b'), gpu, formats);
  return buildStepTimeModel({ kind }, { model, gpu, tp: 1 }).method;
};

describe('a shipped profile', () => {
  it('serves the formats that it was measured in', () => {
    expect(build('calibrated')).toBe('calibrated');
    expect(build('auto')).toBe('calibrated');
  });

  it.each([{ quantization: 'fp8' }, { kvCacheDtype: 'fp8' }] as const)(
    'is refused for %j',
    (own) => {
      expect(() => build('calibrated', own)).toThrow(
        'The step-time profile was fitted for bf16, KV cache bf16, not for ',
      );
      expect(build('auto', own)).toBe('estimated');
    },
  );
});
