import { noiseFrom, StepScatter } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const NOISE = {
  decode: noiseFrom(Array.from({ length: 200 }, (_, i) => 0.9 + i / 1_000))!,
  prefill: noiseFrom(Array.from({ length: 200 }, (_, i) => 0.5 + i / 100))!,
};

describe('an engine with a scatter', () => {
  it('multiplies each step by the next factor of its stream, and takes steps one by one', () => {
    const test = new TestEngine({ stepNoise: NOISE, name: 'decode-0', seed: 5 });
    const plain = new TestEngine({});
    for (const each of [test, plain]) each.submit('s', { outputTokens: 12 });
    const scatter = new StepScatter(NOISE, 5, 'decode-0');
    for (let step = 0; step < 12; step++) {
      const [fromUs, plainFromUs] = [test.nowUs, plain.nowUs];
      const us = test.step(Infinity)!.endUs - fromUs;
      const plainUs = plain.step()!.endUs - plainFromUs;
      expect(us).toBe(Math.round(plainUs * scatter.next(step === 0)));
    }
  });
});
