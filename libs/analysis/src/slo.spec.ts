import { describe, expect, it } from 'vitest';
import { attainmentOf, formatSlo, sloTest, parseSlo, SloError } from './slo';
import { logOf } from '../test/test-log';

describe('an SLO as text', () => {
  it.each([
    ['ttft=2s,tpot=50ms', { ttft: 2_000_000, tpot: 50_000 }],
    [' e2el = 1.5s , itl=800us', { e2el: 1_500_000, itl: 800 }],
    ['ttft=.25ms', { ttft: 250 }],
  ])('%s is read', (text, slo) => {
    expect(parseSlo(text)).toEqual(slo);
    expect(parseSlo(formatSlo(slo))).toEqual(slo);
  });

  it.each([
    ['', 'SLO "" is not understood'],
    ['ttft', 'SLO "ttft" is not understood'],
    ['ttft=-2s', 'SLO "ttft=-2s" is not understood'],
    ['ttft=2m', 'SLO "ttft=2m" is not understood'],
    ['tftt=2s', 'SLO has no objective tftt (only ttft, tpot, itl, e2el)'],
    ['ttft=2', 'SLO "ttft=2" needs a unit, us, ms or s'],
    ['ttft=1s,ttft=2s', 'SLO names ttft twice'],
    ['tpot=0ms', 'SLO "tpot=0ms" cannot be met'],
  ])('%s is refused in one sentence', (text, beginning) => {
    expect(() => parseSlo(text)).toThrow(
      new SloError(`${beginning}: write for example ttft=2s,tpot=50ms.`),
    );
  });
});

const second = 1_000_000;

describe('attainment', () => {
  const log = logOf([
    { firstTokenUs: second, finishUs: 2 * second, tokens: 11 },
    { firstTokenUs: 3 * second, finishUs: 4 * second, tokens: 11 },
    { firstTokenUs: second, finishUs: 9 * second, tokens: 11 },
    { firstTokenUs: second, finishUs: second, tokens: 1 },
    { firstTokenUs: second, finishUs: 2 * second, tokens: 11, outcome: 'failed' },
    { outcome: 'rejected' },
  ]);

  it('counts requests that meet every objective, and each objective alone', () => {
    expect(attainmentOf(log, { ttft: 2 * second, tpot: 100_000 })).toEqual({
      good: 2,
      met: { ttft: 3, tpot: 3 },
    });
  });

  it('allows the bound itself, and lets the tighter of tpot and itl bind', () => {
    expect(attainmentOf(log, { tpot: 100_000, itl: 99_999 }).good).toBe(1);
    expect(attainmentOf(log, { e2el: 2 * second }).good).toBe(2);
  });

  it('without objectives is completion', () => {
    expect([0, 1, 2, 3, 4, 5].map(sloTest(log, {}))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
