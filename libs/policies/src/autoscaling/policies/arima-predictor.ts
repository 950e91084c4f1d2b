import { mean, NormalEquations } from '@baton/kernel';

/** Minimum number of observations: Dynamo's minimum_data_points. */
const FEWEST_POINTS = 5;
/** Observations that the model is fitted to; older ones are dropped. */
const WINDOW = 256;
const HIGHEST_ORDER = 3;
/** Critical value of the KPSS test for a level at 5 %: Kwiatkowski et al. 1992, table 1. */
const KPSS_CRITICAL = 0.463;

/** x' = constant + Σ weights[i] × x[-1 - i] */
export interface Autoregression {
  readonly constant: number;
  readonly weights: readonly number[];
}

/**
 * ARIMA(p, d, 0), p from 0 to 3, d 0 or 1, fitted anew for each prediction. As `auto_arima` of
 * pmdarima, which Dynamo's planner calls, it differences the series when the KPSS test rejects a
 * constant level, and chooses the order with the lowest AIC (Hyndman and Khandakar, J. Stat. Softw.
 * 27(3), 2008). The fit is by least squares, conditional on the first values.
 */
export class ArimaPredictor {
  private readonly seen: number[] = [];

  observe(value: number): void {
    this.seen.push(value);
    if (this.seen.length > WINDOW) this.seen.shift();
  }

  /** At least 0. Of fewer than five values: the last one, or 0 without any. */
  next(): number {
    const { seen } = this;
    const last = seen.at(-1) ?? 0;
    if (seen.length < FEWEST_POINTS) return last;
    const isLevel = kpss(seen) <= KPSS_CRITICAL;
    const series = isLevel ? seen : differences(seen);
    const step = expectedAt(series.length, series, bestFit(series));
    return Math.max(0, isLevel ? step : last + step);
  }
}

/**
 * The KPSS statistic of a level, with Bartlett weights up to lag ⌊3√n / 13⌋, as in `ndiffs` of R's
 * forecast. 0 for a constant series.
 */
export function kpss(series: readonly number[]): number {
  const { length } = series;
  const level = mean(series);
  const residuals = series.map((value) => value - level);
  const covariance = (lag: number): number =>
    residuals.reduce((sum, value, i) => (i < lag ? sum : sum + value * residuals[i - lag]!), 0);
  const lags = Math.floor((3 * Math.sqrt(length)) / 13);
  let variance = covariance(0) / length;
  for (let lag = 1; lag <= lags; lag++) {
    variance += (2 / length) * (1 - lag / (lags + 1)) * covariance(lag);
  }
  if (variance <= 0) return 0;
  let [sum, squares] = [0, 0];
  for (const value of residuals) {
    sum += value;
    squares += sum * sum;
  }
  return squares / (length * length * variance);
}

/** The fit with the lowest AIC; all orders are compared on the same values. */
export function bestFit(series: readonly number[]): Autoregression {
  const highest = Math.min(HIGHEST_ORDER, Math.floor((series.length - 2) / 2));
  let best: Autoregression = { constant: mean(series), weights: [] };
  let lowest = Infinity;
  for (let order = 0; order <= highest; order++) {
    const fit = fitOrder(series, order, highest);
    const count = series.length - highest;
    const aic = count * Math.log(Math.max(fit.squares / count, Number.MIN_VALUE)) + 2 * order;
    if (aic >= lowest) continue;
    [best, lowest] = [fitOrder(series, order, order), aic];
  }
  return best;
}

/**
 * The least-squares fit to all values after the first `from` (at least `order`). The fit is of
 * deviations from the mean, as R's `ar.ols`, so that a high level costs no precision.
 */
export function fitOrder(
  series: readonly number[],
  order: number,
  from: number,
): Autoregression & { readonly squares: number } {
  const level = mean(series);
  const deviations = series.map((value) => value - level);
  const inputsAt = (at: number): number[] => [1, ...deviations.slice(at - order, at).reverse()];
  const system = new NormalEquations(order + 1);
  for (let at = from; at < series.length; at++) system.add(inputsAt(at), deviations[at]!, 1);
  const [offset = 0, ...weights] = system.solve();
  const constant = offset + weights.reduce((sum, weight) => sum - weight * level, level);
  let squares = 0;
  for (let at = from; at < series.length; at++) {
    squares += (series[at]! - expectedAt(at, series, { constant, weights })) ** 2;
  }
  return { constant, weights, squares };
}

/** The value expected at an index, from those before it. */
function expectedAt(
  at: number,
  series: readonly number[],
  { constant, weights }: Autoregression,
): number {
  return weights.reduce((sum, weight, i) => sum + weight * series[at - 1 - i]!, constant);
}

function differences(series: readonly number[]): number[] {
  return series.slice(1).map((value, i) => value - series[i]!);
}
