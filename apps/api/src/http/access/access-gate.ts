import type { IncomingHttpHeaders } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CONFIG } from '../../tokens';
import { noteCaller } from '../request-context';
import { sendError } from '../server';
import { ApiKeys, bearerOf, type CallerId } from './api-keys';
import { type AskedPath, isGuarded, isLimited, takesAnthropicKey } from './guarded-paths';
import { ANYONE, COUNTED, RateLimits } from './rate-limits';

/**
 * The door of the API: who may come in, and how often. It looks at headers alone, before a body is read; the tokens of a request are counted later, when
 * they are known.
 */
@Injectable()
export class AccessGate {
  private readonly keys: ApiKeys;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly limits: RateLimits,
  ) {
    this.keys = new ApiKeys([...config.apiKey, ...Object.keys(config.apiKeyLimits ?? {})]);
  }

  /** Stands before every route; not even there when everybody may do anything. */
  install(fastify: FastifyInstance): void {
    if (!this.keys.areNeeded && !this.limits.isOn) return;
    fastify.addHook('onRequest', async (request, reply) => {
      try {
        await this.admit(request, reply);
      } catch (error) {
        if (!(error instanceof BatonError)) throw error;
        sendError(request, reply, { error, config: this.config });
        return reply;
      }
    });
  }

  /**
   * Whose key the headers show; undefined: nobody's, where none is needed.
   *
   * @throws BatonError `missing_api_key`, `invalid_api_key`
   */
  callerOf(headers: IncomingHttpHeaders, asked: AskedPath): CallerId | undefined {
    const shown = bearerOf(headers.authorization) ?? anthropicKey(headers, asked);
    const caller = shown === undefined ? undefined : this.keys.find(shown);
    if (caller !== undefined || !this.keys.areNeeded || !isGuarded(asked)) return caller;
    throw new BatonError(shown === undefined ? 'missing_api_key' : 'invalid_api_key');
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.method === 'OPTIONS') return;
    const asked = { route: request.routeOptions.url, path: request.url.split('?', 1)[0] ?? '' };
    const caller = this.callerOf(request.headers, asked);
    if (caller !== undefined) noteCaller(request.raw, caller);
    if (!this.limits.isOn || !isLimited(asked)) return;
    await this.limits.enter(caller ?? ANYONE, reply.raw, request.method === COUNTED);
  }
}

function anthropicKey(headers: IncomingHttpHeaders, asked: AskedPath): string | undefined {
  const key = takesAnthropicKey(asked) ? headers['x-api-key'] : undefined;
  return typeof key === 'string' ? key : undefined;
}
