import { describe, expect, it } from 'vitest';
import { MOST_ROWS, StepMarks } from './request-trace';

function marksOf(steps: number, tokensPerStep = 1): StepMarks {
  const marks = new StepMarks();
  for (let step = 1; step <= steps; step += 1) marks.add(step * 10, step * tokensPerStep);
  return marks;
}

describe('marks of steps', () => {
  it('have one row per step while there are few', () => {
    expect(marksOf(3, 2).list()).toEqual([
      [10, 2],
      [20, 4],
      [30, 6],
    ]);
  });

  it.each([1, 2, 16, 17, 127, 128, 129, 255, 256, 257, 1_000, 4_097, 100_000])(
    'never use more than their rows, and end with the last of %i steps',
    (steps) => {
      const marks = marksOf(steps);
      const rows = marks.list();
      expect(marks.count).toBe(steps);
      expect(marks.firstUs).toBe(10);
      expect(marks.lastUs).toBe(steps * 10);
      expect(rows.length).toBeLessThanOrEqual(MOST_ROWS);
      expect(rows.length).toBe(Math.ceil(steps / marks.perRow));
      // Every row but the last stands for as many steps.
      const widths = rows.map(([, tokens], row) => tokens - (rows[row - 1]?.[1] ?? 0));
      expect(new Set(widths.slice(0, -1)).size).toBeLessThanOrEqual(1);
      expect(widths.reduce((sum, width) => sum + width, 0)).toBe(steps);
    },
  );

  it('are empty for an answer without tokens', () => {
    const marks = new StepMarks();
    expect([marks.firstUs, marks.lastUs, marks.list()]).toEqual([undefined, undefined, []]);
  });
});
