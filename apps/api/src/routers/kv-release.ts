import {
  type EngineMessage,
  parseKeptKvParams,
  parseKvTransferParams,
  parseRemoteRequestId,
} from '@baton/contract';
import { fieldsIn, isObject, type JsonFields } from '@baton/kernel';
import { channels } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { ApiIdentity, Broker } from '../tokens';

/**
 * Releases held KV blocks before the end of their lease when the leg that they are held for is
 * refused finally. vLLM does the same for a request that is aborted before it begins.
 */
@Injectable()
export class KvRelease {
  constructor(
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
  ) {}

  /** Does nothing for parameters that name no blocks. */
  refused(raw: unknown): void {
    const params = parseKvTransferParams(raw) ?? parseKeptKvParams(raw);
    const held = parseRemoteRequestId(params?.remote_request_id ?? '');
    if (!params?.remote_engine_id || held === undefined) return;
    const message: EngineMessage = {
      kind: 'release',
      from: this.identity.apiId,
      ...held,
    };
    const payload = Buffer.from(JSON.stringify(message));
    this.transport.bus.publish(channels.engine(params.remote_engine_id), payload);
  }
}

export function rawParamsOf(body: unknown): JsonFields | undefined {
  const { kv_transfer_params: params } = fieldsIn(body);
  return isObject(params) ? params : undefined;
}
