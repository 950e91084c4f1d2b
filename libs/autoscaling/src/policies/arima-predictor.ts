/** Fewest observations: Dynamo's minimum_data_points. */
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
 * ARIMA(p, d, 0), p from 0 to 3, d 0 or 1, fitted anew to each prediction. As `auto_arima` of
 * pmdarima, which Dynamo's planner calls, it differences the series when the KPSS test rejects that
 * it has a level, and takes the order with the lowest AIC (Hyndman and Khandakar, J. Stat. Softw.
 * 27(3), 2008). The fit is by least squares, conditional on the first values.
 */
export class ArimaPredictor {
  private readonly seen: number[] = [];

  observe(value: number): void {
    this.seen.push(value);
    if (this.seen.length > WINDOW) this.seen.shift();
  }

  /** At least 0. The last value before the fifth one; 0 before the first. */
  next(): number {
    const { seen } = this;
    const last = seen.at(-1) ?? 0;
    if (seen.length < FEWEST_POINTS) return last;
    const isLevel = kpss(seen) <= KPSS_CRITICAL;
    const series = isLevel ? seen : differences(seen);
    const { constant, weights } = bestFit(series);
    const step = weights.reduce((sum, weight, i) => sum + weight * series.at(-1 - i)!, constant);
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
    if (fit === undefined) break;
    const count = series.length - highest;
    const aic = count * Math.log(Math.max(fit.squares / count, Number.MIN_VALUE)) + 2 * order;
    if (aic >= lowest) continue;
    [best, lowest] = [fitOrder(series, order, order) ?? fit, aic];
  }
  return best;
}

/**
 * The least squares over all values behind the first `from` (at least `order`). Undefined when they
 * do not determine it.
 */
export function fitOrder(
  series: readonly number[],
  order: number,
  from: number,
): (Autoregression & { readonly squares: number }) | undefined {
  const rows: number[][] = [];
  for (let at = from; at < series.length; at++) {
    const past = Array.from({ length: order }, (_none, i) => series[at - 1 - i]!);
    rows.push([1, ...past, series[at]!]);
  }
  const solved = solve(normalEquations(rows));
  if (solved === undefined) return undefined;
  const [constant = 0, ...weights] = solved;
  const squares = rows.reduce((sum, row) => {
    const expected = solved.reduce((total, factor, i) => total + factor * row[i]!, 0);
    return sum + (row.at(-1)! - expected) ** 2;
  }, 0);
  return { constant, weights, squares };
}

/** Of rows with the inputs and, last, the output: XᵀX beside Xᵀy. */
function normalEquations(rows: readonly (readonly number[])[]): number[][] {
  const width = rows[0]!.length;
  return Array.from({ length: width - 1 }, (_none, i) =>
    Array.from({ length: width }, (_other, j) =>
      rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0),
    ),
  );
}

/** Gauss and Jordan without exchanges, for a positive definite matrix; undefined for another. */
function solve(equations: number[][]): number[] | undefined {
  for (const [at, pivot] of equations.entries()) {
    const scale = pivot[at]!;
    if (scale <= 1e-9 * (1 + Math.abs(equations[0]![0]!))) return undefined;
    for (let j = at; j < pivot.length; j++) pivot[j]! /= scale;
    for (const row of equations) {
      const factor = row[at]!;
      if (row === pivot || factor === 0) continue;
      for (let j = at; j < row.length; j++) row[j]! -= factor * pivot[j]!;
    }
  }
  return equations.map((row) => row.at(-1)!);
}

function differences(series: readonly number[]): number[] {
  return series.slice(1).map((value, i) => value - series[i]!);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
