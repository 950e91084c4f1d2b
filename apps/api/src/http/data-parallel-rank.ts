import type { IncomingHttpHeaders } from 'node:http';
import { BatonError } from '@baton/contract';

/** The rank is read only from requests with this header. */
export const RANK_HEADER = 'x-data-parallel-rank';
/** The texts that Python's `int` accepts, except for digits grouped by underscores. */
const INTEGER = /^\s*[+-]?\d+\s*$/;

/**
 * The data-parallel rank in vLLM's request header `X-data-parallel-rank`; undefined when Baton may
 * choose. vLLM ignores a value that is not a number; Baton refuses it, because any rank would then
 * serve the request.
 *
 * @param size ranks of an engine
 * @throws BatonError `invalid_value`
 */
export function dataParallelRankOf(headers: IncomingHttpHeaders, size: number): number | undefined {
  const said = headers[RANK_HEADER];
  if (said === undefined) return undefined;
  const text = String(said);
  if (!INTEGER.test(text)) {
    const message =
      `X-data-parallel-rank must be an integer from 0 to ${size - 1}; '${text}' ` + 'is not.';
    throw new BatonError('invalid_value', message);
  }
  const rank = Number(text);
  if (rank >= 0 && rank < size) return rank;
  const message = `data_parallel_rank ${rank} is out of range [0, ${size}).`;
  throw new BatonError('invalid_value', message);
}
