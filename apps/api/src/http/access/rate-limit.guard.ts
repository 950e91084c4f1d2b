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

  /** False where there is no limit. */
  get isNeeded(): boolean {
    return this.limits.isOn;
  }

  /** @throws BatonError `request_rate_exceeded` */
  async canActivate(context: ExecutionContext): Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.method === 'OPTIONS' || !isLimited(requestedPath(request))) return true;
    const { tenant = ANYONE } = contextOf(request.raw);
    const isCounted = request.method === COUNTED;
    await this.limits.enter(tenant, http.getResponse<FastifyReply>().raw, isCounted);
    return true;
  }
}
