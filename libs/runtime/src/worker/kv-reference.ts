import type { EngineJob, KvTransferParams } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';

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
  readonly blockIds: readonly number[] | undefined;
  readonly tensorParallelSize: number;
  /** Data-parallel rank, each of which has a side channel of its own. */
  readonly rank: number;
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
    remote_block_ids: held.blockIds === undefined ? null : [held.blockIds],
    remote_engine_id: held.engineId,
    remote_request_id: held.remoteRequestId,
    remote_host: SIDE_CHANNEL_HOST,
    remote_port: SIDE_CHANNEL_PORT + held.rank,
    tp_size: held.tensorParallelSize,
    remote_num_tokens: held.promptTokens,
    remote_blocks_expiry_time: null,
    transfer_mode: 'pull',
  };
}
