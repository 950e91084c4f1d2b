import type { IncomingHttpHeaders } from 'node:http';
import type { EnginePresence } from '@baton/contract';

/** Request header that selects the format of the answer's header. */
export const ORCA_ASK = 'endpoint-load-metrics-format';
/** Header of answers whose request has `endpoint-load-metrics-format`. */
export const ORCA_HEADER = 'endpoint-load-metrics';

/**
 * vLLM's ORCA header (`vllm/entrypoints/serve/utils/orca_metrics.py`): KV cache usage and the
 * number of waiting requests, for load balancers. For a cluster these are the usage of the fullest
 * engine and the sum of waiting requests. Undefined without a request header, and for a format that
 * vLLM does not support.
 */
export function orcaHeader(
  headers: IncomingHttpHeaders,
  engines: readonly EnginePresence[],
): string | undefined {
  const format = String(headers[ORCA_ASK] ?? '').toLowerCase();
  if (format !== 'text' && format !== 'json') return undefined;
  const gauges = engines.map((engine) => engine.gauges);
  const metrics = {
    kv_cache_usage_perc: Math.max(0, ...gauges.map(({ kvUsage }) => kvUsage)),
    num_requests_waiting: gauges.reduce(
      (sum, { waitingCapacity, waitingDeferred }) => sum + waitingCapacity + waitingDeferred,
      0,
    ),
  };
  const pairs = Object.entries(metrics).map(([name, value]) => [name, pythonFloat(value)] as const);
  if (format === 'text') {
    return `TEXT ${pairs.map(([name, value]) => `named_metrics.${name}=${value}`).join(', ')}`;
  }
  return (
    'JSON {"named_metrics": ' +
    `{${pairs.map(([name, value]) => `"${name}": ${value}`).join(', ')}}}`
  );
}

/** vLLM writes both as floats. */
function pythonFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
