import type { FrontEndSummary } from '@baton/analysis';
import type { FrontEnd } from '@baton/front-end';
import { usToMs } from '@baton/kernel';

/** The front end of a run by the names of its result. */
export function frontEndSummary({
  name,
  requestUs,
  promptTokenUs,
  dispatch,
}: FrontEnd): FrontEndSummary {
  return { name, request_ms: usToMs(requestUs), prompt_token_us: promptTokenUs, dispatch };
}
