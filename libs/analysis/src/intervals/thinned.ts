import { Instants } from '../instants';
import { RequestLog } from '../request-log';

/**
 * Maximum number of rows that intervals use. Their width at this size is a few thousandths of a
 * figure. All rows of a million would cost as much as the rest of the summary.
 */
export const ROWS_MAX = 131_072;

const COLUMNS = [
  ...(['outcome', 'promptTokens', 'emittedTokens', 'cachedTokens'] as const),
  ...(['arrivalUs', 'prefillStartUs', 'heldUs', 'transferStartUs', 'transferEndUs'] as const),
  ...(['firstTokenUs', 'finishUs'] as const),
];

/** The log itself, or every n-th row of a long one, in its order. */
export function thinned(log: RequestLog, rowsMax = ROWS_MAX): RequestLog {
  const stride = Math.ceil(log.count / rowsMax);
  if (stride <= 1) return log;
  const part = new RequestLog(Math.ceil(log.count / stride), {
    hasFrontEnd: log.frontEnd !== undefined,
  });
  for (const name of COLUMNS) takeEvery(stride, log[name], part[name]);
  for (const name of ['enqueuedUs', 'offeredUs'] as const) {
    if (log.frontEnd) takeEvery(stride, log.frontEnd[name], part.frontEnd![name]);
  }
  return part;
}

type Column = Uint8Array | Int32Array | Instants;

function takeEvery(stride: number, from: Column, to: Column): void {
  for (let row = 0; row < to.length; row++) {
    const value = from.at(row * stride)!;
    if (to instanceof Instants) to.set(row, value);
    else to[row] = value;
  }
}
