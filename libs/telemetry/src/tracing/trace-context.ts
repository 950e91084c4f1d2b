import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
  TraceFlags,
} from '@opentelemetry/api';

/**
 * https://www.w3.org/TR/trace-context/#traceparent-header, version 00; later versions begin the
 * same way.
 */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NOTHING = /^0+$/;

/** The context of a child of this header's span; the root when the header is invalid. */
export function contextOfTraceparent(traceparent: string | undefined): Context {
  const [, traceId = '', spanId = '', flags = '0'] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (NOTHING.test(traceId) || NOTHING.test(spanId) || traceId === '') return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** OpenTelemetry takes seconds and nanoseconds. */
export function timeOf(us: number): [number, number] {
  const seconds = Math.floor(us / 1e6);
  return [seconds, Math.round((us - seconds * 1e6) * 1_000)];
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
