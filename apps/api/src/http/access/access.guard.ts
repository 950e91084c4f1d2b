import type { IncomingHttpHeaders } from 'node:http';
import { type BatonConfig, readApiKeys } from '@baton/config';
import { BatonError } from '@baton/contract';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CONFIG } from '../../tokens';
import { noteTenant, type Tenant } from '../request-context';
import { ApiKeys, bearerOf } from './api-keys';
import { type RequestedPath, requestedPath, isGuarded, takesAnthropicKey } from './guarded-paths';

/** Decides from the headers alone which requests may enter. */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly keys: ApiKeys;

  constructor(@Inject(CONFIG) config: BatonConfig) {
    this.keys = new ApiKeys(readApiKeys(config));
  }

  /** False when no key is set. */
  get isNeeded(): boolean {
    return this.keys.areNeeded;
  }

  /** @throws BatonError `missing_api_key`, `invalid_api_key` */
  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.method === 'OPTIONS') return true;
    const tenant = this.tenantOf(request.headers, requestedPath(request));
    if (tenant !== undefined) noteTenant(request.raw, tenant);
    return true;
  }

  /** The tenant of the key in the headers; undefined where no key is needed. */
  private tenantOf(headers: IncomingHttpHeaders, requested: RequestedPath): Tenant {
    const shown = bearerOf(headers.authorization) ?? anthropicKey(headers, requested);
    const tenant = shown === undefined ? undefined : this.keys.find(shown);
    if (tenant !== undefined || !isGuarded(requested)) return tenant;
    throw new BatonError(shown === undefined ? 'missing_api_key' : 'invalid_api_key');
  }
}

function anthropicKey(headers: IncomingHttpHeaders, requested: RequestedPath): string | undefined {
  const key = takesAnthropicKey(requested) ? headers['x-api-key'] : undefined;
  return typeof key === 'string' ? key : undefined;
}
