import { RequestLog } from '../request-log';

/**
 * Rows that intervals look at. Their width at so many is a few thousandths of a figure; with all of
 * a million rows they would cost as much as the rest of the summary.
 */
export const ROWS_MAX = 131_072;

const COLUMNS = [
  ...(['outcome', 'promptTokens', 'emittedTokens', 'cachedTokens'] as const),
  ...(['arrivalUs', 'prefillStartUs', 'heldUs', 'transferStartUs', 'transferEndUs'] as const),
  ...(['firstTokenUs', 'finishUs'] as const),
];

/** The log itself, or every so manieth row of a long one, in its order. */
export function thinned(log: RequestLog, rowsMax = ROWS_MAX): RequestLog {
  const stride = Math.ceil(log.count / rowsMax);
  if (stride <= 1) return log;
  const part = new RequestLog(Math.ceil(log.count / stride));
  for (const name of COLUMNS) {
    const [from, to] = [log[name], part[name]];
    for (let row = 0; row < part.count; row++) to[row] = from[row * stride]!;
  }
  return part;
}
