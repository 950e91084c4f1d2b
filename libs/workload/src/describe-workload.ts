import { firstCount, meanRatePerSecond, type Workload } from './workload';

/** Tokens per request. All but `total` are NaN when there are no requests. */
export interface LengthSummary {
  readonly total: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface WorkloadDescription {
  readonly requests: number;
  /** Number of requests that are later turns of conversations. */
  readonly laterTurns: number;
  /** From the first to the last arrival. */
  readonly durationSeconds: number;
  /** Requests per second, without later turns. */
  readonly ratePerSecond: number;
  /** Largest number of requests at one instant. A value far above 1 indicates a coarse clock. */
  readonly mostAtOneInstant: number;
  readonly promptTokens: LengthSummary;
  readonly outputTokens: LengthSummary;
  /**
   * Share of the prompt tokens that one unlimited cache, filled in the order of the rows, would
   * hold, 0 to 1.
   */
  readonly reusableShare: number;
  readonly contentBlockTokens: number;
  readonly contents: number;
}

/**
 * The figures of a workload. They take two sorts and one pass over the contents, so they are meant
 * for reports, not for inner loops.
 */
export function describeWorkload(workload: Workload): WorkloadDescription {
  const firsts = firstCount(workload);
  const rate = meanRatePerSecond(workload);
  return {
    requests: workload.count,
    laterTurns: workload.count - firsts,
    durationSeconds: rate === 0 ? 0 : (firsts - 1) / rate,
    ratePerSecond: rate,
    mostAtOneInstant: mostAtOneInstant(workload),
    promptTokens: summaryOf(workload.promptTokens),
    outputTokens: summaryOf(workload.outputTokens),
    reusableShare: reusableShare(workload),
    contentBlockTokens: workload.contentBlockTokens,
    contents: workload.contentCount,
  };
}

/** Number of requests that arrive at the busiest instant, without later turns of conversations. */
export function mostAtOneInstant(workload: Workload): number {
  const { arrivalUs, after } = workload;
  let most = 0;
  let here = 0;
  let atUs = NaN;
  for (let row = 0; row < workload.count; row++) {
    if (after.length > 0 && after[row] !== -1) continue;
    here = arrivalUs[row] === atUs ? here + 1 : 1;
    atUs = arrivalUs[row]!;
    if (here > most) most = here;
  }
  return most;
}

/** Summary of lengths. Percentiles are nearest-rank. */
function summaryOf(lengths: Int32Array): LengthSummary {
  const sorted = lengths.slice().sort();
  let total = 0;
  for (let i = 0; i < sorted.length; i++) total += sorted[i]!;
  const at = (q: number): number => sorted[Math.ceil(q * sorted.length) - 1] ?? NaN;
  return {
    total,
    mean: sorted.length === 0 ? NaN : total / sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    max: sorted.at(-1) ?? NaN,
  };
}

function reusableShare(workload: Workload): number {
  const { contentStart, contentIds, contentBlockTokens, promptTokens } = workload;
  const isKnown = new Uint8Array(workload.contentCount + 1);
  let requested = 0;
  let found = 0;
  for (let row = 0; row < workload.count; row++) {
    const to = contentStart[row + 1]!;
    let at = contentStart[row]!;
    while (at < to && isKnown[contentIds[at]!] === 1) at += 1;
    requested += promptTokens[row]!;
    found += Math.min(promptTokens[row]!, (at - contentStart[row]!) * contentBlockTokens);
    for (; at < to; at++) if (contentIds[at] !== 0) isKnown[contentIds[at]!] = 1;
  }
  return requested === 0 ? 0 : found / requested;
}
