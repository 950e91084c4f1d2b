import type { IncomingHttpHeaders } from 'node:http';

/** The priority is read only from requests with this header. */
export const PRIORITY_HEADER = 'x-vllm-priority';
const INTEGER = /^\s*[+-]?\d{1,15}\s*$/;

/**
 * vLLM's `X-Vllm-Priority`, with which a gateway sets the priority without changing the body. A
 * value that is not an integer is ignored.
 */
export function priorityOf(headers: IncomingHttpHeaders): number | undefined {
  const said = String(headers[PRIORITY_HEADER] ?? '');
  return INTEGER.test(said) ? Number(said) : undefined;
}
