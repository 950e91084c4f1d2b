import type { EndReason } from '@baton/contract';

/** Matches the event with which a server ends an answer. */
export const FINISH = /"finish_reason":\s*"(stop|length|abort|tool_calls|function_call)"/;

/** Why the answer ended. @param last the event that `FINISH` matched, or any text for a plain stop */
export function reasonIn(last: string): EndReason {
  const [, reason = 'stop'] = FINISH.exec(last) ?? [];
  return reason === 'length' || reason === 'abort' ? reason : 'stop';
}
