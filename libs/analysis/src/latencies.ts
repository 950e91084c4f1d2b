import { NEVER, outcomeCode, type RequestLog } from './request-log';

/** Latencies of the completed requests in µs, each column ascending by itself. */
export interface Latencies {
  /** Arrival to first token. */
  readonly ttftUs: Float64Array;
  /** (end-to-end − TTFT) / (tokens − 1), requests with a single token left out. */
  readonly tpotUs: Float64Array;
  /** Arrival to last token. */
  readonly e2elUs: Float64Array;
}

const COMPLETED = outcomeCode('completed');

/**
 * Sorts what the log has measured; the definitions are those of vLLM's benchmark.
 *
 * @param isCounted  which of the completed requests are meant; left out: all
 */
export function latenciesOf(
  log: RequestLog,
  isCounted: (row: number) => boolean = () => true,
): Latencies {
  const ttftUs = new Float64Array(log.count);
  const tpotUs = new Float64Array(log.count);
  const e2elUs = new Float64Array(log.count);
  let measured = 0;
  let spread = 0;
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== COMPLETED || log.firstTokenUs[row] === NEVER) continue;
    if (!isCounted(row)) continue;
    const arrivalUs = log.arrivalUs[row]!;
    ttftUs[measured] = log.firstTokenUs[row]! - arrivalUs;
    e2elUs[measured++] = log.finishUs[row]! - arrivalUs;
    if (log.emittedTokens[row]! > 1) tpotUs[spread++] = tpotOf(log, row);
  }
  return {
    ttftUs: ttftUs.subarray(0, measured).sort(),
    tpotUs: tpotUs.subarray(0, spread).sort(),
    e2elUs: e2elUs.subarray(0, measured).sort(),
  };
}

/**
 * Time per output token after the first, in µs; 0 for a single token, as vLLM's benchmark has it.
 */
export function tpotOf(log: RequestLog, row: number): number {
  const gaps = log.emittedTokens[row]! - 1;
  return gaps < 1 ? 0 : (log.finishUs[row]! - log.firstTokenUs[row]!) / gaps;
}
