import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overTime } from './over-time';
import { logOf } from '../test/test-log';

const second = 1_000_000;

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

describe('rates over time', () => {
  it('count arrivals, completions and good completions in their intervals', () => {
    const log = logOf([
      { arrivalUs: 0, firstTokenUs: second, finishUs: 1.5 * second, tokens: 2 },
      { arrivalUs: 0.5 * second, firstTokenUs: 3.5 * second, finishUs: 4 * second, tokens: 2 },
      { arrivalUs: 3 * second, outcome: 'rejected' },
    ]);
    const rates = overTime(log, { endUs: 4 * second, intervals: 4, slo: { ttft: second } });
    expect(rates.intervalUs).toBe(second);
    expect([...rates.arrivals]).toEqual([2, 0, 0, 1]);
    expect([...rates.completions]).toEqual([0, 1, 0, 1]);
    expect([...rates.good]).toEqual([0, 1, 0, 0]);
  });

  it('spread the tokens of a request over its generation', () => {
    const log = logOf([{ firstTokenUs: 0.5 * second, finishUs: 2.5 * second, tokens: 200 }]);
    const rates = overTime(log, { endUs: 4 * second, intervals: 4, slo: {} });
    expect([...rates.outputTokens]).toEqual([50, 100, 50, 0]);
  });

  it('lose no request and no token, for any intervals', () => {
    const row = fc.record({
      arrivalUs: fc.nat(1_000),
      waitUs: fc.nat(5_000),
      spanUs: fc.nat(20_000),
      tokens: fc.integer({ min: 1, max: 500 }),
    });
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 600 }), (rows, intervals) => {
        const log = logOf(
          rows.map(({ arrivalUs, waitUs, spanUs, tokens }) => ({
            arrivalUs,
            tokens,
            firstTokenUs: arrivalUs + waitUs,
            finishUs: arrivalUs + waitUs + spanUs,
          })),
        );
        const endUs = [...log.finishUs].reduce((last, us) => Math.max(last, us), 1);
        const rates = overTime(log, { endUs, intervals, slo: {} });
        const seconds = rates.intervalUs / second;
        const tokens = log.emittedTokens.reduce((total, each) => total + each, 0);
        expect(sum(rates.completions) * seconds).toBeCloseTo(rows.length, 6);
        expect(sum(rates.outputTokens) * seconds).toBeCloseTo(tokens, 6);
        expect(rates.outputTokens.every((each) => each >= -1e-6)).toBe(true);
      }),
    );
  });
});
