import type { BlockTable } from './block-table';
import { DenseTable } from './dense-table';
import { HashedTable } from './hashed-table';

/**
 * @param contentCount hashes are the integers 1..contentCount; undefined or 0 when they may be any
 */
export function createTable(numBlocks: number, contentCount = 0): BlockTable {
  return contentCount > 0 ? new DenseTable(numBlocks, contentCount) : new HashedTable(numBlocks);
}
