import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { BatonError } from '@baton/contract';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '../../tokens';
import { isOperators, operationOf } from '../operation';
import { AdminKey } from './admin-key';
import { bearerOf } from './api-keys';

/** Headers that mark a request as forwarded by a proxy. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
/** Values that browsers send for requests not caused by another site. */
const OWN_SITE: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);
const ALLOW_ORIGIN = 'access-control-allow-origin';

/**
 * Guards the endpoints of administration and of development mode. They take requests with the admin
 * key and, where no key of any kind is configured, requests from this machine. A web page counts as
 * this machine only when this server has served it under a name of this machine, because a local
 * browser may show pages of any site.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly config: Config,
    private readonly key: AdminKey,
  ) {}

  /** @throws BatonError `missing_api_key`, `invalid_api_key`, `host_refused`, `origin_refused` */
  canActivate(context: ExecutionContext): true {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const operation = operationOf(request.routeOptions);
    if (operation === undefined || !isOperators(operation)) return true;
    this.admit(request, http.getResponse<FastifyReply>());
    return true;
  }

  /**
   * Also keeps pages of other sites from reading the answer.
   *
   * @throws BatonError as `canActivate` does
   */
  admit({ raw }: FastifyRequest, reply: FastifyReply): void {
    this.hideFromOthers(raw, reply);
    this.check(raw);
  }

  /** Whether it would be admitted. */
  admits(message: IncomingMessage): boolean {
    try {
      this.check(message);
      return true;
    } catch (error) {
      if (error instanceof BatonError) return false;
      throw error;
    }
  }

  private check(message: IncomingMessage): void {
    const shown = bearerOf(message.headers.authorization);
    if (shown !== undefined && this.key.isIt(shown)) return;
    if (!this.key.isOpenHere || !isFromHere(message)) {
      const code = shown === undefined ? 'missing_api_key' : 'invalid_api_key';
      throw new BatonError(code, 'This path needs the admin key, as `Authorization: Bearer KEY`.');
    }
    if (!this.isOwnHost(message.headers.host)) throw new BatonError('host_refused');
    if (!isOwnPage(message)) throw new BatonError('origin_refused');
  }

  /**
   * `allowed_origins: *` is meant for the API; only origins listed by name may read these answers.
   */
  private hideFromOthers({ headers: { origin } }: IncomingMessage, { raw }: FastifyReply): void {
    const isNamed = origin !== undefined && this.config.allowedOrigins.includes(origin);
    if (!isNamed) raw.removeHeader(ALLOW_ORIGIN);
  }

  /**
   * A foreign page whose host name resolves to this machine shows that name here (DNS rebinding).
   */
  private isOwnHost(host: string | undefined): boolean {
    const name = hostnameOf(host);
    if (name === undefined) return false;
    return name === 'localhost' || LOOPBACK.test(name) || name === this.config.host;
  }
}

function isFromHere({ socket, headers }: IncomingMessage): boolean {
  const isDirect = FORWARDED.every((name) => headers[name] === undefined);
  return isDirect && LOOPBACK.test(socket.remoteAddress ?? '');
}

function isOwnPage({ socket, headers }: IncomingMessage): boolean {
  if (!OWN_SITE.has(headers['sec-fetch-site'])) return false;
  const scheme = (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
  return headers.origin === undefined || headers.origin === `${scheme}://${headers.host}`;
}

/** The host without port and brackets; undefined when the text is no host. */
function hostnameOf(host = ''): string | undefined {
  const [, name] = /^(\[[^\]]+\]|[^:]+)(?::\d+)?$/.exec(host) ?? [];
  return name?.toLowerCase().replace(/^\[|\]$/g, '');
}
