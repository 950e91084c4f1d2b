import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { ArimaPredictor, bestFit, fitOrder, kpss } from './arima-predictor';

/** Luteinizing hormone in blood samples, R's data set `lh` (Diggle 1990). */
const LH = [
  ...[2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7, 2.2, 1.8, 3.2, 3.2],
  ...[2.7, 2.2, 2.2, 1.9, 1.9, 1.8, 2.7, 3.0, 2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3],
  ...[2.6, 2.4, 1.8, 1.7, 1.5, 1.4, 2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4, 3.0, 2.9],
];

function predicted(values: readonly number[]): number {
  const predictor = new ArimaPredictor();
  values.forEach((value) => predictor.observe(value));
  return predictor.next();
}

describe('the ARIMA predictor', () => {
  it("fits R's example ar.ols(lh): 0.586 for order 1", () => {
    const { weights, constant } = fitOrder(LH, 1, 1);
    expect(weights.map((weight) => weight.toFixed(3))).toEqual(['0.586']);
    // R's fit is of deviations from the mean 2.4, with the intercept 0.006234.
    expect(constant).toBeCloseTo(2.4 * (1 - weights[0]!) + 0.006234, 5);
  });

  it("chooses order 3 for this series, as R's ar(lh), and predicts as R's arima(lh, c(3, 0, 0))", () => {
    expect(bestFit(LH).weights).toHaveLength(3);
    // R fits by maximum likelihood: 2.460.
    expect(Math.abs(predicted(LH) - 2.46)).toBeLessThan(0.02);
  });

  it('finds the weights of a series that follows them', () => {
    const random = RandomStream.root(7).stream('arima');
    const series = [100, 100];
    while (series.length < 250) {
      const noise = random.unit() - 0.5;
      series.push(30 + 1.2 * series.at(-1)! - 0.5 * series.at(-2)! + noise);
    }
    const [first = 0, second = 0] = bestFit(series).weights;
    expect(first).toBeCloseTo(1.2, 0);
    expect(second).toBeCloseTo(-0.5, 0);
  });

  it('follows a trend, which has no level', () => {
    const rising = Array.from({ length: 30 }, (_none, i) => 10 * i);
    expect(kpss(rising)).toBeGreaterThan(0.463);
    expect(predicted(rising)).toBeCloseTo(300, 6);
    const falling = Array.from({ length: 30 }, (_none, i) => 29 - i);
    expect(predicted(falling)).toBe(0);
  });

  it('predicts the value of a constant series, and the last of fewer than five values', () => {
    expect(predicted([7, 7, 7, 7, 7, 7, 7])).toBeCloseTo(7, 9);
    expect(predicted([1, 2, 3, 9])).toBe(9);
    expect(predicted([])).toBe(0);
  });
});
