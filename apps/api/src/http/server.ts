import type { IncomingMessage } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { executesAny } from '@baton/engine-host';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
} from 'fastify';
import { bodyLimits, readJsonBody } from './body-parser';
import { commonHeaders } from './common-headers';
import type { RequestListener } from './connections/request-pacing';
import { Cors } from './cors';
import { dataParallelRankOf, RANK_HEADER } from './data-parallel-rank';
import { renderErrorAt } from './error-renderer';
import { type KnownRoutes, ROUTER_OPTIONS } from './known-routes';
import { isOperators } from './operation';
import type { Listeners } from './listeners';
import { contextOf } from './request-context';
import type { LongAnswers } from './streaming/long-answers';
import { isLongBody, longBody } from './streaming/long-body';

export interface AdapterParts {
  readonly listeners: Listeners;
  readonly routes: KnownRoutes;
}

/** Fastify as Nest's HTTP adapter. Errors that the framework answers get the dialect's shape. */
export function createAdapter(
  config: BatonConfig,
  { listeners, routes }: AdapterParts,
): FastifyAdapter {
  const adapter = new FastifyAdapter({
    logger: false,
    genReqId: (message: IncomingMessage) => contextOf(message).requestId,
    // FastAPI serves no HEAD routes.
    exposeHeadRoutes: config.dialect === 'openai',
    return503OnClosing: false,
    forceCloseConnections: true,
    routerOptions: ROUTER_OPTIONS,
    serverFactory: (listener: RequestListener) => listeners.create(listener),
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      // Neither a hook nor the filter runs for a URL that cannot be routed.
      void reply.headers(commonHeaders(config, contextOf(request.raw).requestId));
      const { status, headers, body } = renderErrorAt(
        request.url,
        badUrl(error.statusCode),
        config.dialect,
      );
      void reply.code(status).headers(headers).send(body);
    },
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  routes.observe(fastify);
  install(fastify, config, routes);
  fastify.addHook('onSend', sendGradually(listeners.longAnswers));
  return adapter;
}

function install(fastify: FastifyInstance, config: BatonConfig, routes: KnownRoutes): void {
  const keepsText = executesAny(config);
  // Upstream servers, players and recordings get every body unchanged.
  const leavesLarge = !keepsText && config.play === undefined && config.recordAnswers === undefined;
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', (request: FastifyRequest) =>
    readJsonBody(request.raw, {
      limits: bodyLimits(config, request.routeOptions.url),
      keepsText,
      leavesLarge,
    }),
  );
  const cors = new Cors(config);
  const operatorCors = new Cors(onlyNamed(config));
  fastify.addHook('onRequest', (request, reply, done) => {
    beginAnswer(request, reply, { config, cors });
    if (request.method === 'OPTIONS') {
      if (isPreflight(request)) {
        if (leadsToOperators(request, routes)) {
          reply.raw.removeHeader('access-control-allow-origin');
          return answerPreflight(request, reply, operatorCors);
        }
        return answerPreflight(request, reply, cors);
      }
      // FastAPI answers an OPTIONS request without CORS headers as a wrong method.
      const allowed = config.dialect === 'openai' ? routes.methodsOf(request.url) : undefined;
      if (allowed !== undefined) {
        return void reply.code(204).header('allow', allowed.join(', ')).send();
      }
    }
    done(refusalOf(request, config));
  });
}

/** The body of a long answer becomes a stream of its pieces. */
function sendGradually(answers: LongAnswers): onSendHookHandler<unknown> {
  return (...[, reply, body, done]: Parameters<onSendHookHandler<unknown>>) => {
    if (!isLongBody(body)) return done(null, body);
    answers.add(reply.raw);
    void reply.header('content-length', Buffer.byteLength(body));
    done(null, longBody(body));
  };
}

interface Beginning {
  readonly config: BatonConfig;
  readonly cors: Cors;
}

/**
 * Sets the headers of every answer on Node's own response, because an exchange can take it over
 * from the framework.
 */
function beginAnswer(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { config, cors }: Beginning,
): void {
  const { requestId } = contextOf(raw);
  const common = commonHeaders(config, requestId);
  // A client that is not a web page needs only these.
  const isPage = raw.headers.origin !== undefined || config.allowCredentials;
  const headers = isPage ? { ...common, ...cors.simple(raw.headers) } : common;
  for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
}

/** The refusal that the headers alone cause, before anything else is read. */
function refusalOf({ method, raw }: FastifyRequest, config: BatonConfig): BatonError | undefined {
  const hosts = hostsOf(raw);
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) {
    const message =
      hosts > 1 ? 'The request has two Host headers.' : 'The request has no Host header.';
    return new BatonError('invalid_type', message);
  }
  // `rawHeaders` alternates names and values.
  if (raw.rawHeaders.length / 2 > config.h11MaxHeaderCount) {
    const message = `The request has more than ${config.h11MaxHeaderCount} headers.`;
    return new BatonError('headers_too_large', message);
  }
  if (method !== 'POST' || raw.headers[RANK_HEADER] === undefined) return undefined;
  try {
    // A wrong rank is refused on every path.
    dataParallelRankOf(raw.headers, config.dataParallelSize);
    return undefined;
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers['access-control-request-method'] !== undefined && headers.origin !== undefined;
}

/** Pages that may use the API must not use the endpoints of operators. */
function onlyNamed(config: BatonConfig): BatonConfig {
  return { ...config, allowedOrigins: config.allowedOrigins.filter((origin) => origin !== '*') };
}

function leadsToOperators({ url, headers }: FastifyRequest, routes: KnownRoutes): boolean {
  const method = headers['access-control-request-method'] ?? '';
  const operation = routes.operationAt(method, url);
  return operation !== undefined && isOperators(operation);
}

function answerPreflight({ raw }: FastifyRequest, reply: FastifyReply, cors: Cors): void {
  const { status, headers, text } = cors.preflight(raw.headers);
  void reply.code(status).headers(headers).type('text/plain; charset=utf-8').send(text);
}

function badUrl(status: number | undefined): BatonError {
  return status === 414
    ? new BatonError('uri_too_long')
    : new BatonError('invalid_type', 'The URL is invalid.');
}

/** The number of Host headers. Node's `headers` keep the first of several. */
function hostsOf({ headers, rawHeaders }: IncomingMessage): number {
  if (headers.host === undefined) return 0;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
