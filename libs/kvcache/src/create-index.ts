import { DENSE_CONTENTS_MAX, DenseIndex } from './dense-index';
import { HashedIndex } from './hashed-index';
import type { PrefixIndex } from './prefix-index';

/** @param contentCount hashes are the integers 1..contentCount; undefined or 0 when they may be any */
export function createIndex(numBlocks: number, contentCount = 0): PrefixIndex {
  const isDense = contentCount > 0 && contentCount <= DENSE_CONTENTS_MAX;
  return isDense ? new DenseIndex(numBlocks, contentCount) : new HashedIndex(numBlocks);
}
