import { describe, expect, it } from 'vitest';
import { firstDifference, reasonFor } from './difference';

describe('the first difference of two runs', () => {
  it('is the first step that is not equal, or that only one has', () => {
    expect(firstDifference(['a', 'b'], ['a', 'b'])).toBeUndefined();
    expect(firstDifference(['a', 'b', 'c'], ['a', 'x', 'y'])).toEqual({
      step: 1,
      text: 'step 1: vLLM b ours x',
    });
    expect(firstDifference(['a'], ['a', 'b'])?.step).toBe(1);
    expect(firstDifference(['a', 'b'], ['a'])?.step).toBe(1);
  });

  it('is explained by a twin, a starving request or a preemption in flight no later than it', () => {
    const reasonAt = (
      step: number,
      twinAt: number | null,
      starvesFrom: number | null,
      inFlightAt: number | null = null,
    ) => reasonFor({ step, text: '' }, { twinAt, starvesFrom, inFlightAt });
    expect(reasonAt(5, 5, null)).toBe('twin');
    expect(reasonAt(5, 4, 3)).toBe('twin');
    expect(reasonAt(5, 6, 5)).toBe('starves');
    expect(reasonAt(5, null, 0)).toBe('starves');
    expect(reasonAt(5, 6, 6)).toBeUndefined();
    expect(reasonAt(5, null, null, 5)).toBe('in-flight');
    expect(reasonAt(5, null, null, 6)).toBeUndefined();
    expect(reasonAt(5, null, null)).toBeUndefined();
  });
});
