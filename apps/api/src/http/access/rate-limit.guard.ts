import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contextOf } from '../request-context';
import { requestedPath, isLimited } from './guarded-paths';
import { ANYONE, COUNTED, RateLimits } from './rate-limits';

/**
 * Limits the requests of a tenant. The tokens of a request are counted later, when they are known.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly limits: RateLimits) {}

  /** @throws BatonError `request_rate_exceeded` */
  canActivate(context: ExecutionContext): true | Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (!this.limits.isOn || !isLimited(requestedPath(request))) return true;
    const { tenant = ANYONE } = contextOf(request.raw);
    const isCounted = request.method === COUNTED;
    const reply = http.getResponse<FastifyReply>();
    return this.limits.enter(tenant, reply.raw, isCounted).then(() => true as const);
  }
}
