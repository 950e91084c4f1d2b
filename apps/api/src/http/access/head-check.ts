import type { IncomingHttpHeaders } from 'node:http';
import { type BatonConfig, readApiKeys } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { onRequestAsyncHookHandler } from 'fastify';
import { bodyLimits, refuseLong } from '../body-parser';
import { noteTenant, type Tenant } from '../request-context';
import { ApiKeys, bearerOf } from './api-keys';
import { type RequestedPath, requestedPath, isGuarded, takesAnthropicKey } from './guarded-paths';

/**
 * Checks the key of a request and the announced length of its body, at paths without a handler too.
 * Nest's guards run after a body has been read, so this is a hook of Fastify.
 *
 * @returns a hook that throws BatonError `missing_api_key`, `invalid_api_key`, `body_too_large`
 */
export function headCheck(config: BatonConfig): onRequestAsyncHookHandler {
  const keys = new ApiKeys(readApiKeys(config));
  return async (request) => {
    if (request.method === 'OPTIONS') return;
    if (keys.areNeeded) {
      const tenant = tenantOf(keys, request.headers, requestedPath(request));
      if (tenant !== undefined) noteTenant(request.raw, tenant);
    }
    await refuseLong(request.raw, bodyLimits(config, request.routeOptions.url));
  };
}

/** The tenant of the key in the headers; undefined where no key is shown and none is needed. */
function tenantOf(keys: ApiKeys, headers: IncomingHttpHeaders, requested: RequestedPath): Tenant {
  const shown = bearerOf(headers.authorization) ?? anthropicKey(headers, requested);
  const tenant = shown === undefined ? undefined : keys.find(shown);
  if (tenant !== undefined || !isGuarded(requested)) return tenant;
  throw new BatonError(shown === undefined ? 'missing_api_key' : 'invalid_api_key');
}

function anthropicKey(headers: IncomingHttpHeaders, requested: RequestedPath): string | undefined {
  const key = takesAnthropicKey(requested) ? headers['x-api-key'] : undefined;
  return typeof key === 'string' ? key : undefined;
}
