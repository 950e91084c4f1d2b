import type { IncomingHttpHeaders } from 'node:http';

/** Only a request that has it is asked. */
export const PRIORITY_HEADER = 'x-vllm-priority';
const INTEGER = /^\s*[+-]?\d{1,15}\s*$/;

/**
 * vLLM's `X-Vllm-Priority`, by which a gateway sets the priority without touching the body; what is
 * no integer is passed over.
 */
export function priorityOf(headers: IncomingHttpHeaders): number | undefined {
  const said = String(headers[PRIORITY_HEADER] ?? '');
  return INTEGER.test(said) ? Number(said) : undefined;
}
