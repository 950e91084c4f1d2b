import type { EndReason } from '@baton/contract';

/** Matches the event with which a server ends an answer. */
export const FINISH_REASON = /"finish_reason":\s*"(stop|length|abort|tool_calls|function_call)"/;

/**
 * The end reason of the answer. @param last the event that `FINISH_REASON` matched, or any text for
 * a plain stop
 */
export function reasonIn(last: string): EndReason {
  const [, reason = 'stop'] = FINISH_REASON.exec(last) ?? [];
  return reason === 'length' || reason === 'abort' ? reason : 'stop';
}
