import type { FrontEndSummary } from '@baton/analysis';
import type { FrontEnd } from '@baton/step-time';
import { usToMs } from '@baton/kernel';

/** The front end of a run, with the field names of its result. */
export function frontEndSummary(frontEnd: FrontEnd): FrontEndSummary {
  const { name, requestUs, requestBusyUs, promptTokenUs, promptTokenBusyUs, dispatch } = frontEnd;
  return {
    name,
    request_ms: usToMs(requestUs),
    prompt_token_us: promptTokenUs,
    request_busy_ms: usToMs(requestBusyUs),
    prompt_token_busy_us: promptTokenBusyUs,
    api_server_count: frontEnd.serversPerEngine,
    dispatch,
  };
}
