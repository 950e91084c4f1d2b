import { BatonError } from '@baton/contract';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config, Log } from '../tokens';
import { renderErrorAt } from './error-renderer';
import { KnownRoutes } from './known-routes';
import { pathOf } from './request-context';

/** Characters of a path that an error repeats. */
const MAX_PATH = 200;

/** Turns every error thrown before the answer into the dialect's error. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly config: Config,
    private readonly logger: Log,
    private readonly routes: KnownRoutes,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.errorOf(exception, request.url);
    if (reply.raw.headersSent || reply.raw.destroyed) return;
    if (error.code === 'not_found' && isBrowserAtRoot(request)) {
      void reply.code(302).header('location', 'ui/').send();
      return;
    }
    const { status, headers, body } = renderErrorAt(request.url, error, this.config.dialect);
    if (error.code === 'method_not_allowed') {
      void reply.header('allow', this.routes.methodsOf(request.url)?.join(', ') ?? '');
    }
    if (error.code === 'shutting_down') void reply.header('connection', 'close');
    void reply.code(status).headers(headers).send(body);
  }

  private wayFrom(path: string): string {
    if (path === '/') return 'Nothing is served at /. See /v1 (API), /ui (live page), /docs.';
    const near = this.routes.nearestTo(path);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    return `Nothing is served at ${path}.${hint}`;
  }

  private errorOf(exception: unknown, url: string): BatonError {
    if (exception instanceof BatonError) return exception;
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    switch (status) {
      case 404:
        return this.routes.methodsOf(url)
          ? new BatonError('method_not_allowed')
          : new BatonError('not_found', this.wayFrom(pathOf(url).slice(0, MAX_PATH)));
      case 413:
        return new BatonError('body_too_large');
      case 414:
        return new BatonError('uri_too_long');
      case 415:
        return new BatonError('unsupported_content_type');
    }
    if (status >= 400 && status < 500) return new BatonError('invalid_type', messageOf(exception));
    this.logger.error({ err: exception }, 'a request failed with an unexpected error');
    return new BatonError('engine_error');
  }
}

/** A person who opens the address of the API wants the live page, a program the error. */
function isBrowserAtRoot({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && pathOf(url) === '/' && (headers.accept ?? '').includes('text/html');
}

function messageOf(exception: unknown): string {
  return exception instanceof Error ? exception.message : 'The request is malformed.';
}
