import { type BatonConfig, UsageError } from '@baton/config';
import { VERSION } from '@baton/kernel';
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

/** Spans of one process on their way to a collector. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the remaining data, for two seconds at most. */
  stop(): Promise<void>;
}

/** A collector that does not answer must not delay the end of a process. */
const LAST_EXPORT_MS = 1_500;
/** Limit of spans that wait for the collector; further ones are dropped. */
const MAX_WAITING_SPANS = 8_192;

/**
 * Spans by OTLP over HTTP, when an endpoint is configured. Sampling, headers and the like are
 * OpenTelemetry's own environment variables (`OTEL_TRACES_SAMPLER` …). The SDK is loaded only then
 * (.swcrc): it takes a tenth of a second.
 *
 * @throws UsageError when the endpoint is not an http URL
 */
export function startTracing(config: BatonConfig, service: string): Tracing | undefined {
  const { otlpTracesEndpoint } = config;
  if (otlpTracesEndpoint === undefined) return undefined;
  return exporting(tracesUrl(otlpTracesEndpoint), service);
}

/**
 * An endpoint without a path is that of a collector, as in `OTEL_EXPORTER_OTLP_ENDPOINT`: traces
 * have a path of their own there.
 */
export function tracesUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`otlp_traces_endpoint: \`${endpoint}\` is not an http or https URL.`);
  }
  if (url.pathname === '/') url.pathname = '/v1/traces';
  return url.href;
}

function exporting(url: string, service: string): Tracing {
  const exporter = new OTLPTraceExporter({ url });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': `baton-${service}`,
      'service.version': VERSION,
      'process.pid': process.pid,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: MAX_WAITING_SPANS })],
  });
  return { tracer: provider.getTracer('baton', VERSION), stop: () => stopped(provider) };
}

async function stopped(provider: { shutdown(): Promise<void> }): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_EXPORT_MS);
  });
  await Promise.race([provider.shutdown().catch(() => undefined), late]);
  clearTimeout(timer);
}
