import type { BlockTable } from './block-table';
import { DENSE_CONTENTS_MAX, DenseTable } from './dense-table';
import { HashedTable } from './hashed-table';

/** @param contentCount hashes are the integers 1..contentCount; undefined or 0 when they may be any */
export function createTable(numBlocks: number, contentCount = 0): BlockTable {
  const isDense = contentCount > 0 && contentCount <= DENSE_CONTENTS_MAX;
  return isDense ? new DenseTable(numBlocks, contentCount) : new HashedTable(numBlocks);
}
