import { ArimaPredictor } from './arima-predictor';

/** Predicts the next of a series of numbers. */
export interface LoadPredictor {
  observe(value: number): void;
  /** At least 0. */
  next(): number;
}

export const PREDICTORS = ['constant', 'kalman', 'arima'] as const;
export type PredictorName = (typeof PREDICTORS)[number];

export function buildPredictor(name: PredictorName): LoadPredictor {
  if (name === 'arima') return new ArimaPredictor();
  return name === 'kalman' ? new KalmanPredictor() : new ConstantPredictor();
}

/** The next value is the last one. */
class ConstantPredictor implements LoadPredictor {
  private last = 0;

  observe(value: number): void {
    this.last = value;
  }

  next(): number {
    return this.last;
  }
}

/**
 * Variances of level, trend and measurement, and the minimum number of observations: Dynamo's
 * defaults.
 */
const LEVEL_NOISE = 1;
const TREND_NOISE = 0.1;
const MEASUREMENT_NOISE = 10;
const FEWEST_POINTS = 5;
/** Variance of an unknown state. */
const UNKNOWN = 1_000;

/**
 * A Kalman filter with a local linear trend, as Dynamo's planner has it:
 *
 *     level' = level + trend, trend' = trend, with noise of both; measured is the level
 *
 * The covariance of level and trend is the symmetric matrix [[a, b], [b, d]].
 */
class KalmanPredictor implements LoadPredictor {
  private points = 0;
  private last = 0;
  private level = 0;
  private trend = 0;
  private a = UNKNOWN;
  private b = 0;
  private d = UNKNOWN;

  observe(value: number): void {
    this.last = value;
    if (this.points++ === 0) {
      this.level = value;
      return;
    }
    this.advance();
    const surprise = value - this.level;
    const total = this.a + MEASUREMENT_NOISE;
    const [levelGain, trendGain] = [this.a / total, this.b / total];
    this.level += levelGain * surprise;
    this.trend += trendGain * surprise;
    this.d -= trendGain * this.b;
    this.b *= 1 - levelGain;
    this.a *= 1 - levelGain;
  }

  next(): number {
    if (this.points < FEWEST_POINTS) return this.last;
    return Math.max(0, this.level + this.trend);
  }

  private advance(): void {
    this.level += this.trend;
    this.a += 2 * this.b + this.d + LEVEL_NOISE;
    this.b += this.d;
    this.d += TREND_NOISE;
  }
}
