import { describe, expect, it } from 'vitest';
import { describeWorkload } from './describe-workload';
import { scaleLengths } from './scale-lengths';
import type { Workload } from './workload';
import { WorkloadBuilder } from './workload-builder';

/** Two prompts of 96 tokens whose first 64 are the same. */
function twoPrompts(): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (const [at, own] of [100, 200].entries()) {
    builder.add({ arrivalUs: at, promptTokens: 96, outputTokens: 10, maxTokens: 20 });
    for (const id of [1, 2, 3, 4, own, own + 1]) builder.addContent(id);
  }
  return builder.build();
}

describe('scaled lengths', () => {
  it.each([0.5, 2])('keep the share of prompts that requests have in common (x%d)', (prompt) => {
    const scaled = scaleLengths(twoPrompts(), { prompt, mostTokens: Infinity });
    expect([...scaled.promptTokens]).toEqual([96 * prompt, 96 * prompt]);
    expect([...scaled.outputTokens]).toEqual([10, 10]);
    expect(scaled.contentBlockTokens).toBe(16);
    expect(describeWorkload(scaled).reusableShare).toBe(
      describeWorkload(twoPrompts()).reusableShare,
    );
  });

  it('change outputs and what clients ask for, and no prompt', () => {
    const scaled = scaleLengths(twoPrompts(), { output: 2, mostTokens: Infinity });
    expect([...scaled.promptTokens, ...scaled.outputTokens]).toEqual([96, 96, 20, 20]);
    expect([...scaled.maxTokens]).toEqual([40, 40]);
  });

  it('make no request too long for the model that was not too long before', () => {
    const fits = scaleLengths(twoPrompts(), { prompt: 2, output: 2, mostTokens: 150 });
    expect([...fits.promptTokens]).toEqual([130, 130]);
    const tooLong = scaleLengths(twoPrompts(), { prompt: 2, mostTokens: 50 });
    expect([...tooLong.promptTokens]).toEqual([96, 96]);
  });

  it('leave at least one token', () => {
    const scaled = scaleLengths(twoPrompts(), { output: 1 / 64, mostTokens: Infinity });
    expect([...scaled.outputTokens]).toEqual([1, 1]);
  });
});
