import type { PlanFigures, TaskResult } from './plan-task';
import { goodputOf, type SplitResult } from './split-result';
import { describe, expect, it } from 'vitest';
import { apartFactor, goodputInterval, isToldApart } from './told-apart';

function measured(completedRate: number, apart = 1, error = { low: 1, high: 1 }): TaskResult {
  const intervals = { request_rps: [9, 11], model: { e2el: error, apart } };
  const figures = { request_rps: 10, intervals } as unknown as PlanFigures;
  return { rate: completedRate, completedRate, figures, requests: 100, simulations: 1 };
}

function split(rate: number, apart?: number): SplitResult {
  return { name: 'x', measured: measured(rate, apart) } as SplitResult;
}

describe('the interval of a goodput', () => {
  it('holds it, and is no narrower than the search', () => {
    const [low, high] = goodputInterval(measured(20))!;
    expect(low).toBeLessThan(20 / 1.1);
    expect(high).toBeGreaterThan(20 * 1.1);
  });

  it('is lower where steps may be longer', () => {
    const sure = goodputInterval(measured(20))!;
    const slower = goodputInterval(measured(20, 1, { low: 1, high: 2 }))!;
    expect(slower[0]).toBeLessThan(10);
    expect(slower[1]).toBe(sure[1]);
  });

  it('is undefined when no rate was found', () => {
    const none = { rate: 0, completedRate: 0, figures: undefined, requests: 100, simulations: 3 };
    expect(goodputInterval(none)).toBeUndefined();
  });
});

describe('two splits', () => {
  it('differ beyond the width of the search when step times are right', () => {
    expect(apartFactor(split(1), split(1))).toBeCloseTo(1.02);
    expect(isToldApart(split(10), split(10.1))).toBe(false);
    expect(isToldApart(split(10.3), split(10))).toBe(true);
  });

  it('differ beyond the part of the error that they do not share', () => {
    expect(isToldApart(split(10, 1.25), split(12, 1.1))).toBe(false);
    expect(isToldApart(split(13, 1.25), split(10, 1.25))).toBe(true);
  });

  it('differ beyond the whole error of both where their deployments differ', () => {
    const error = { low: 0.8, high: 1.2 };
    const [one, other] = [10, 14].map((rate) => ({ measured: measured(rate, 1.1, error) }));
    expect(isToldApart(one!, other!)).toBe(true);
    expect(apartFactor(one!, other!, false)).toBeGreaterThan(1.25);
    expect(isToldApart(one!, { measured: measured(12.5) }, { sharesErrors: false })).toBe(false);
  });

  it('are compared by another figure where one is given', () => {
    const prices = new Map([
      ['x', 10],
      ['y', 20],
    ]);
    const figureOf = (one: SplitResult) => goodputOf(one) / prices.get(one.name)!;
    expect(isToldApart(split(10), { ...split(10), name: 'y' }, { figureOf })).toBe(true);
    expect(isToldApart(split(10), { ...split(20), name: 'y' }, { figureOf })).toBe(false);
  });

  it('differ from a split that serves nothing', () => {
    expect(isToldApart(split(10, 1.25), { name: 'y', measured: undefined } as SplitResult)).toBe(
      true,
    );
  });
});
