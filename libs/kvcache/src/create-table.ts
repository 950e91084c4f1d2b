import type { BlockTable } from './block-table';
import { DenseTable } from './dense-table';
import { GroupedTable } from './grouped-table';
import { HashedTable } from './hashed-table';

/**
 * @param contentCount hashes are the integers 1..contentCount; undefined or 0 when they are any
 * numbers
 * @param groups groups of layers that have blocks of their own
 */
export function createTable(numBlocks: number, contentCount = 0, groups = 1): BlockTable {
  if (groups > 1) {
    const tables = Array.from({ length: groups }, () => createTable(numBlocks, contentCount));
    return new GroupedTable(tables);
  }
  return contentCount > 0 ? new DenseTable(numBlocks, contentCount) : new HashedTable(numBlocks);
}
