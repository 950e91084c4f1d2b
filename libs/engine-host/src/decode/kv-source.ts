import {
  type EngineJob,
  type KvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
  parseRemoteRequestId,
} from '@baton/contract';
import type { SourceName } from '@baton/handoff';
import type { HandoffRecord } from '@baton/transport';
import { claimOn, claimOnKept } from '../run/runs/kv-claim';
import type { Fetching } from '../run/runs/run';

/** The KV of a computed prompt that its prefill engine holds, by the ledger's record. */
export function handedOverKv({ requestId }: EngineJob, handoff: HandoffRecord): Fetching {
  const { params, generation, epoch } = handoff;
  const engineId = params.remote_engine_id ?? '';
  return newFetching({ engineId, requestId, epoch, generation });
}

/** The KV that a client names. Undefined: the parameters are malformed. */
export function attachedKv(job: EngineJob, blockSize: number): Fetching | undefined {
  const params = parseKvTransferParams(job.kvTransferParams);
  if (params === undefined) return undefined;
  return newFetching(sourceOf(params), claimOn(job, params.remote_block_ids ?? [], blockSize));
}

/**
 * The beginning of a prompt, in whole blocks, that decode has kept of the previous turn. Undefined:
 * nothing is kept. Without `claim` it cannot be used.
 */
export function keptKv(job: EngineJob, blockSize: number): Fetching | undefined {
  const params = job.kvTransferParams && parseKeptKvParams(job.kvTransferParams);
  if (params === undefined) return undefined;
  const common = Math.min(params.remote_num_tokens, job.promptTokens);
  const tokens = common - (common % blockSize);
  const claim = claimOnKept(job, params.remote_block_ids ?? [], { tokens, blockSize });
  return { ...newFetching(sourceOf(params), claim), claimedTokens: tokens };
}

/** Parameters from outside name no epoch. */
function sourceOf({ remote_engine_id, remote_request_id }: KvTransferParams): SourceName {
  const name = parseRemoteRequestId(remote_request_id ?? '');
  return {
    engineId: remote_engine_id ?? '',
    requestId: name?.requestId ?? remote_request_id ?? '',
    epoch: 0,
    generation: name?.generation ?? 0,
  };
}

function newFetching(source: SourceName, claim?: number): Fetching {
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
