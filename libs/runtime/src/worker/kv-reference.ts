import type { EngineJob, KvTransferParams } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';

/**
 * vLLM appends eight random hex digits to a request id; ours are the generation of the holding, so that a reference to blocks that have
 * been given to somebody else is told from a good one.
 */
export function remoteRequestId(requestId: string, generation: number): string {
  return `${requestId}-${generation.toString(16).padStart(8, '0')}`;
}

/** The request and generation that a remote request id names; undefined when no source of ours can have made it. */
export function parseRemoteRequestId(
  id: string,
): { readonly requestId: string; readonly generation: number } | undefined {
  const match = /^(.+)-([0-9a-f]{8,13})$/.exec(id);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { requestId: match[1], generation: Number.parseInt(match[2], 16) };
}

const CLAIM = hashString('claim on held blocks');

/** One number for which blocks hold which prompt: equal only if block ids, prompt length and prompt (to its last full block) are equal. */
export function claimOn(
  job: Pick<EngineJob, 'promptTokens' | 'blockHashes'>,
  blockIds: readonly (readonly number[])[],
  blockSize: number,
): number {
  const fullBlocks = Math.floor(job.promptTokens / blockSize);
  let claim = mix(mix(CLAIM, job.promptTokens), job.blockHashes[fullBlocks - 1] ?? 0);
  for (const group of blockIds) for (const id of group) claim = mix(claim, id);
  return claim;
}

export interface HeldKv {
  readonly engineId: string;
  readonly remoteRequestId: string;
  readonly blockIds: readonly number[];
  readonly tensorParallelSize: number;
  readonly promptTokens: number;
}

/** Address of vLLM's NIXL side channel by its defaults; our engines meet over the broker, but readers look for the fields. */
const SIDE_CHANNEL_HOST = 'localhost';
const SIDE_CHANNEL_PORT = 5600;

/** The eleven fields with which a prefill instance answers. */
export function kvTransferParams(held: HeldKv): KvTransferParams {
  return {
    do_remote_prefill: true,
    do_remote_decode: false,
    remote_block_ids: [held.blockIds],
    remote_engine_id: held.engineId,
    remote_request_id: held.remoteRequestId,
    remote_host: SIDE_CHANNEL_HOST,
    remote_port: SIDE_CHANNEL_PORT,
    tp_size: held.tensorParallelSize,
    remote_num_tokens: held.promptTokens,
    remote_blocks_expiry_time: null,
    transfer_mode: 'pull',
  };
}
