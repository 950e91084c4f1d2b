import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { takeArrivalUs } from './connections/arrivals';

/**
 * The owner of a request's key and of everything stored for it. Undefined without a known key: the
 * single tenant of a cluster without keys.
 */
export type Tenant = string | undefined;

/** The facts of a request that are known once its headers are read. */
export interface RequestContext {
  /** µs since the Unix epoch; see `takeArrivalUs`. */
  readonly arrivalUs: number;
  /** Echoed as `x-request-id`. */
  readonly requestId: string;
  readonly clientRequestId: string | undefined;
  /** The engine, when the request came in at its own port. */
  readonly engineId: string | undefined;
  readonly tenant: Tenant;
}

/** A header is copied into answers, ids and logs; a longer value is ignored. */
const MAX_REQUEST_ID_LENGTH = 256;
/** Characters allowed in an answer's header and in its body without escapes. */
const PRINTABLE = /^[\x21-\x7e]+$/;

const contexts = new WeakMap<IncomingMessage, RequestContext>();
const engines = new WeakMap<IncomingMessage, string>();

/** The context of a request; made on first use. */
export function contextOf(message: IncomingMessage): RequestContext {
  const known = contexts.get(message);
  if (known) return known;
  const clientRequestId = clientIdOf(message);
  const context = {
    arrivalUs: takeArrivalUs(message),
    requestId: clientRequestId ?? randomUUID().replaceAll('-', ''),
    clientRequestId,
    engineId: engines.get(message),
    tenant: undefined,
  };
  contexts.set(message, context);
  return context;
}

/** A URL without its query. */
export function pathOf(url = ''): string {
  return url.split('?', 1)[0] ?? '';
}

/** Marks a request as one that came in at an engine's own port. */
export function directTo(message: IncomingMessage, engineId: string): void {
  engines.set(message, engineId);
}

/** Marks a request with the owner of its key. */
export function noteTenant(message: IncomingMessage, tenant: string): void {
  contexts.set(message, { ...contextOf(message), tenant });
}

function clientIdOf(message: IncomingMessage): string | undefined {
  const header = message.headers['x-request-id'];
  const id = Array.isArray(header) ? header[0] : header;
  return id !== undefined && id.length <= MAX_REQUEST_ID_LENGTH && PRINTABLE.test(id)
    ? id
    : undefined;
}
