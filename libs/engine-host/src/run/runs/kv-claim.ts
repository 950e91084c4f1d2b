import type { EngineJob } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';

const CLAIM = hashString('claim on held blocks');

type Content = Pick<EngineJob, 'promptTokens' | 'blockHashes'>;

/**
 * A hash of a prompt and its blocks: equal only if block ids, prompt length and prompt (to its last
 * full block) are equal.
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
 * Like `claimOn`, for the first `tokens` tokens (whole blocks) that decode has kept: the reader's
 * longer prompt begins with them. Undefined when the content of these blocks is unknown.
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
