import { assert, InvariantError } from '@baton/kernel';
import type { BlockList } from './block-list';
import type { BlockSpans } from './block-spans';
import type { BlockTable } from './block-table';

/** A pool's records of its blocks. */
export interface AuditedBlocks {
  readonly table: BlockTable;
  readonly spans: BlockSpans;
  readonly usedBlocks: number;
  /** Ids that a group of layers has. */
  readonly idsPerGroup: number;
}

/**
 * Checks block conservation: used blocks = Σ over owners, free = without owner, and every findable
 * block is found under its hash.
 *
 * @param lists every list that holds blocks; `unlisted`: private blocks on none
 * @throws InvariantError when blocks were lost or assigned twice.
 */
export function auditBlocks(
  blocks: AuditedBlocks,
  lists: Iterable<BlockList>,
  unlisted: number,
): void {
  const expected = new Int32Array(blocks.table.lastId + 1);
  let used = unlisted;
  for (const list of lists) {
    used += list.rest;
    for (const id of list.ids.subarray(list.skipped, list.numbered)) {
      if (id < 0 || expected[id]!++ === 0) used++;
    }
  }
  assert(used === blocks.usedBlocks, 'the pool has lost count of its owners');
  auditIds(blocks, expected);
}

function auditIds({ table, spans, idsPerGroup }: AuditedBlocks, expectedOwners: Int32Array): void {
  const owners = spans.owners();
  const free = spans.freeIds();
  assert(free.length === spans.order.size, 'the free order has lost count');
  const isFree = new Uint8Array(table.lastId + 1);
  for (const id of free) if (id >= 0) isFree[id] = 1;
  let cached = 0;
  for (let id = 1; id <= table.lastId; id++) {
    const hash = table.hashOf(id);
    const faultOf = hash === 0 ? faultOfPrivate : faultOfFindable;
    const fault = faultOf(isFree[id] === 1, owners[id]!, expectedOwners[id]!);
    // An audit checks every block, so the sentence is built only on a fault.
    if (fault !== undefined) throw new InvariantError(`block ${id} ${fault}`);
    if (hash === 0) continue;
    cached++;
    const group = Math.ceil(id / idsPerGroup) - 1;
    if (table.find(hash, group) !== id) {
      throw new InvariantError(`block ${id} is not found under its hash`);
    }
  }
  assert(cached === table.size, 'the block table has lost count');
}

/**
 * The fault of a block, in words. `counted` is the number of its owners by its span, -1 for a block
 * in no span.
 */
function faultOfPrivate(isFree: boolean, counted: number, expected: number): string | undefined {
  if (isFree) return 'is used and free';
  if (counted >= 0) return 'is in a span and private';
  return expected > 1 ? 'is private and was given twice' : undefined;
}

function faultOfFindable(isFree: boolean, counted: number, expected: number): string | undefined {
  if (isFree !== (expected === 0)) return 'is used and free';
  if (counted < 0) return 'is in a span and private';
  return counted === expected ? undefined : 'has lost count of its owners';
}
