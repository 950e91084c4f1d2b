import type { Socket } from 'node:net';
import { BatonError } from '@baton/contract';
import { renderError } from '@baton/openai';
import type { BatonConfig } from '@baton/runtime';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readJsonBody } from './body-parser';
import { answerClientError } from './client-error';
import { dataParallelRankOf } from './data-parallel-rank';
import { commonHeaders } from './http-answer';
import { contextOf } from './request-context';

/** Node's own default; beyond it 431. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How long a client may take to send one whole request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often Node looks for requests that take longer. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 75_000;

export interface ServerOptions {
  readonly requestTimeoutMs?: number;
}

/** What Node's HTTP server bounds, the same for every port of the process. */
export function serverLimits({ requestTimeoutMs = REQUEST_TIMEOUT_MS }: ServerOptions) {
  return {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  };
}

/** Fastify as Nest's HTTP adapter, with every error that the framework would answer by itself answered in the dialect's shape. */
export function createAdapter(config: BatonConfig, options: ServerOptions = {}): FastifyAdapter {
  const limits = serverLimits(options);
  const adapter = new FastifyAdapter({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 4_096, ignoreTrailingSlash: false },
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    http: limits,
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket as Socket, config.dialect),
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      // No hook runs for a URL that cannot be routed.
      void reply.headers(commonHeaders(contextOf(request.raw).requestId));
      sendError(reply, badUrl(error.statusCode), config);
    },
  });
  install(adapter.getInstance<FastifyInstance>(), config);
  return adapter;
}

function install(fastify: FastifyInstance, config: BatonConfig): void {
  const maxBytes = Math.floor(config.maxRequestBodyMb * 1024 * 1024);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', (request: FastifyRequest) =>
    readJsonBody(request.raw, maxBytes),
  );
  fastify.addHook('onRequest', (request, reply, done) => {
    const { requestId } = contextOf(request.raw);
    void reply.headers(commonHeaders(requestId));
    if (isPreflight(request)) void answerPreflight(request, reply);
    else if (!refuseRank(request, reply, config)) done();
  });
}

/** Before anything is read: whatever is asked of engines, it could not be done where it was asked for. */
function refuseRank(request: FastifyRequest, reply: FastifyReply, config: BatonConfig): boolean {
  if (request.method !== 'POST') return false;
  try {
    dataParallelRankOf(request.headers, config.dataParallelSize);
    return false;
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    sendError(reply, error, config);
    return true;
  }
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Any origin, method and header may call, as vLLM allows by default. */
function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = request.headers['access-control-request-headers'];
  return reply
    .code(200)
    .headers({
      'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
      'access-control-allow-headers': asked ?? '*',
      'access-control-max-age': '600',
    })
    .send('OK');
}

function badUrl(status: number | undefined): BatonError {
  return status === 414
    ? new BatonError('uri_too_long')
    : new BatonError('invalid_type', 'The URL is invalid.');
}

function sendError(reply: FastifyReply, error: BatonError, config: BatonConfig): void {
  const { status, headers, body } = renderError(error, config.dialect);
  void reply.code(status).headers(headers).send(body);
}
