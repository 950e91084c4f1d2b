import type { IncomingHttpHeaders } from 'node:http';

const INTEGER = /^\s*[+-]?\d{1,15}\s*$/;

/**
 * vLLM's `X-Vllm-Priority`, by which a gateway sets the priority without touching the body; what is
 * no integer is passed over.
 */
export function priorityOf(headers: IncomingHttpHeaders): number | undefined {
  const said = String(headers['x-vllm-priority'] ?? '');
  return INTEGER.test(said) ? Number(said) : undefined;
}
