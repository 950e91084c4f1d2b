import { assert } from '@baton/kernel';
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
  const freeIds = new Set(free.filter((id) => id >= 0));
  let cached = 0;
  for (let id = 1; id <= table.lastId; id++) {
    const expected = expectedOwners[id]!;
    const hash = table.hashOf(id);
    assert(freeIds.delete(id) === (hash !== 0 && expected === 0), `block ${id} is used and free`);
    assert(owners[id]! >= 0 === (hash !== 0), `block ${id} is in a span and private`);
    if (hash === 0) {
      assert(expected <= 1, `the private block ${id} was given twice`);
      continue;
    }
    cached++;
    assert(owners[id] === expected, `block ${id} has lost count of its owners`);
    const group = Math.ceil(id / idsPerGroup) - 1;
    assert(table.find(hash, group) === id, `block ${id} is not found under its hash`);
  }
  assert(cached === table.size, 'the block table has lost count');
}
