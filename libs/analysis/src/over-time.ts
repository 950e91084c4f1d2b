import { assert, type Micros } from '@baton/kernel';
import { NEVER } from './instants';
import { outcomeCode, type RequestLog } from './request-log';
import { sloTest, type Slo } from './slo';

/** Rates per simulated second in equal intervals from instant 0 on. */
export interface OverTime {
  readonly intervalUs: Micros;
  readonly arrivals: Float64Array;
  /** Requests whose last token falls into the interval. */
  readonly completions: Float64Array;
  /** Number of these requests that met the SLO. */
  readonly good: Float64Array;
  /** Output tokens, spread evenly from the first to the last token of each request. */
  readonly outputTokens: Float64Array;
}

export interface OverTimeOptions {
  readonly endUs: Micros;
  readonly intervals: number;
  readonly slo: Slo;
}

const US_PER_SECOND = 1_000_000;
const COMPLETED = outcomeCode('completed');

/** Rates over a run, from its log alone. */
export function overTime(log: RequestLog, { endUs, intervals, slo }: OverTimeOptions): OverTime {
  assert(intervals >= 1, `rates need at least one interval: ${intervals}`);
  const intervalUs = Math.max(1, Math.ceil(endUs / intervals));
  const column = (): Float64Array => new Float64Array(intervals);
  const rates = { arrivals: column(), completions: column(), good: column() };
  const tokens = new Spread(intervals, intervalUs);
  const isGood = sloTest(log, slo);
  const indexOf = (us: Micros): number => Math.min(intervals - 1, Math.floor(us / intervalUs));
  for (let row = 0; row < log.count; row++) {
    const finishUs = log.finishUs.at(row);
    if (log.arrivalUs.at(row) !== NEVER) rates.arrivals[indexOf(log.arrivalUs.at(row))]!++;
    if (log.outcome[row] !== COMPLETED || log.firstTokenUs.at(row) === NEVER) continue;
    rates.completions[indexOf(finishUs)]!++;
    if (isGood(row)) rates.good[indexOf(finishUs)]!++;
    tokens.add(log.firstTokenUs.at(row), finishUs, log.emittedTokens[row]!);
  }
  const seconds = intervalUs / US_PER_SECOND;
  const outputTokens = tokens.sums();
  for (const counts of [rates.arrivals, rates.completions, rates.good, outputTokens]) {
    for (let i = 0; i < intervals; i++) counts[i]! /= seconds;
  }
  return { intervalUs, ...rates, outputTokens };
}

/**
 * Sums per interval of amounts that are spread evenly over spans of time. The cost of a span does
 * not depend on its length.
 */
class Spread {
  /**
   * The amount that lies in an interval alone, and the change of the amount per whole interval at
   * its beginning.
   */
  private readonly alone: Float64Array;
  private readonly changes: Float64Array;

  constructor(
    private readonly intervals: number,
    private readonly intervalUs: Micros,
  ) {
    this.alone = new Float64Array(intervals);
    this.changes = new Float64Array(intervals + 1);
  }

  add(fromUs: Micros, untilUs: Micros, amount: number): void {
    const { intervalUs, intervals } = this;
    const first = Math.min(intervals - 1, Math.floor(fromUs / intervalUs));
    const last = Math.min(intervals - 1, Math.floor(untilUs / intervalUs));
    if (first === last) {
      this.alone[first]! += amount;
      return;
    }
    const perUs = amount / (untilUs - fromUs);
    this.alone[first]! += perUs * ((first + 1) * intervalUs - fromUs);
    this.alone[last]! += perUs * (untilUs - last * intervalUs);
    this.changes[first + 1]! += perUs * intervalUs;
    this.changes[last]! -= perUs * intervalUs;
  }

  sums(): Float64Array {
    let whole = 0;
    return this.alone.map((alone, index) => alone + (whole += this.changes[index]!));
  }
}
