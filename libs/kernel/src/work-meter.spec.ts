import { describe, expect, it } from 'vitest';
import { spendWork, withinWork, WorkExceeded, workSpent } from './work-meter';

function spendAll(parts: readonly number[]): string {
  for (const part of parts) spendWork(part);
  return 'done';
}

describe('counted work', () => {
  it('is unlimited without a bound', () => {
    expect(spendAll([1e12, 1e12])).toBe('done');
  });

  it('may reach its bound in any number of parts, and not exceed it', () => {
    expect(withinWork(10, () => spendAll([4, 4, 2]))).toBe('done');
    expect(() => withinWork(10, () => spendAll([4, 4, 3]))).toThrow(WorkExceeded);
  });

  it('adds up whatever the bound', () => {
    const before = workSpent();
    spendWork(3);
    withinWork(10, () => spendAll([4, 4]));
    expect(workSpent() - before).toBe(11);
  });

  it('has a separate bound per run, whatever the outcome of the last one', () => {
    expect(() => withinWork(1, () => spendAll([2]))).toThrow(WorkExceeded);
    expect(withinWork(2, () => spendAll([2]))).toBe('done');
    expect(spendAll([1e12])).toBe('done');
  });
});
