import type { EngineJob, KvTransferParams } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';

const CLAIM = hashString('claim on held blocks');

type Content = Pick<EngineJob, 'promptTokens' | 'blockHashes'>;

/**
 * One number for which blocks hold which prompt: equal only if block ids, prompt length and prompt
 * (to its last full block) are equal.
 */
export function claimOn(
  job: Content,
  blockIds: readonly (readonly number[])[],
  blockSize: number,
): number {
  const fullBlocks = Math.floor(job.promptTokens / blockSize);
  const content = mix(mix(CLAIM, job.promptTokens), job.blockHashes[fullBlocks - 1] ?? 0);
  return withBlocks(content, blockIds);
}

/**
 * As `claimOn`, for the first `tokens` tokens, whole blocks of them, of what decode has kept: the
 * reader has another prompt, which begins with them. Undefined when the content of these blocks is
 * not known.
 */
export function claimOnKept(
  { blockHashes }: Content,
  blockIds: readonly (readonly number[])[],
  { tokens, blockSize }: { readonly tokens: number; readonly blockSize: number },
): number | undefined {
  const content = blockHashes[tokens / blockSize - 1];
  return content === undefined ? undefined : withBlocks(mix(mix(CLAIM, tokens), content), blockIds);
}

function withBlocks(content: number, blockIds: readonly (readonly number[])[]): number {
  let claim = content;
  for (const group of blockIds) for (const id of group) claim = mix(claim, id);
  return claim;
}

export interface ReferencedKv {
  readonly engineId: string;
  readonly remoteRequestId: string;
  readonly blockIds: readonly number[] | undefined;
  readonly tensorParallelSize: number;
  /** Data-parallel rank, each of which has a side channel of its own. */
  readonly rank: number;
  /** Tokens whose KV the blocks hold. */
  readonly tokens: number;
  /**
   * Until when decode keeps them for a next turn, seconds since the Unix epoch; unset: prefill
   * holds them.
   */
  readonly keptUntil?: number;
}

/**
 * Address of vLLM's NIXL side channel by its defaults; our engines meet over the broker, but
 * readers look for the fields.
 */
const SIDE_CHANNEL_HOST = 'localhost';
const SIDE_CHANNEL_PORT = 5600;

/**
 * The eleven fields with which a prefill instance answers, and a decode instance that keeps its
 * blocks.
 */
export function kvTransferParams(held: ReferencedKv): KvTransferParams {
  return {
    do_remote_prefill: held.keptUntil === undefined,
    do_remote_decode: held.keptUntil !== undefined,
    remote_block_ids: held.blockIds === undefined ? null : [held.blockIds],
    remote_engine_id: held.engineId,
    remote_request_id: held.remoteRequestId,
    remote_host: SIDE_CHANNEL_HOST,
    remote_port: SIDE_CHANNEL_PORT + held.rank,
    tp_size: held.tensorParallelSize,
    remote_num_tokens: held.tokens,
    remote_blocks_expiry_time: held.keptUntil ?? null,
    transfer_mode: 'pull',
  };
}
