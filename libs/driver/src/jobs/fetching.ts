import { type KvTransferParams, parseRemoteRequestId } from '@baton/contract';
import type { SourceName } from '@baton/handoff';
import type { Fetching } from './run';

/** Parameters from outside name no epoch. */
export function sourceOf({ remote_engine_id, remote_request_id }: KvTransferParams): SourceName {
  const name = parseRemoteRequestId(remote_request_id ?? '');
  return {
    engineId: remote_engine_id ?? '',
    requestId: name?.requestId ?? remote_request_id ?? '',
    epoch: 0,
    generation: name?.generation ?? 0,
  };
}

export function newFetching(source: SourceName, claim?: number): Fetching {
  return {
    source,
    claim,
    claimedTokens: undefined,
    reservedUs: undefined,
    missingTokens: 0,
    hasInjectedFault: false,
    isDeclined: false,
    transferStartedUs: 0,
  };
}
