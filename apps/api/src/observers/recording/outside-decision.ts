import type { IncomingHttpHeaders } from 'node:http';
import type { MeasuredRequest } from '@baton/workload';

/** The engines that an outside router chose for a mirrored request. */
export type OutsideDecision = Pick<MeasuredRequest, 'prefillEngine' | 'decodeEngine'>;

/**
 * Reads the engines that the router has named in these headers: that of the prompt first, and that
 * of the tokens last. A request without any of them has no decision.
 */
export function outsideDecision(
  names: readonly string[],
  headers: IncomingHttpHeaders,
): OutsideDecision {
  const engines = names.flatMap((name) => headers[name.toLowerCase()] ?? []);
  return { prefillEngine: engines[0], decodeEngine: engines.at(-1) };
}
