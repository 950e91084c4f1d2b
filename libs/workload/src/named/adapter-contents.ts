import type { Workload } from '../workload';

/**
 * The workload with contents of their own for each adapter: KV that one adapter has computed is of
 * no use to another, so vLLM hashes the adapter with the blocks.
 */
export function withAdapterContents(workload: Workload): Workload {
  const {
    adapter,
    contentIds,
    contentStart,
    contentCount,
    contentNames: _none,
    ...rest
  } = workload;
  if (adapter === undefined || contentIds.length === 0) return workload;
  const own = new Map<number, number>();
  const ids = Int32Array.from(contentIds);
  for (let row = 0; row < workload.count; row++) {
    const place = adapter.places[row]!;
    for (let at = contentStart[row]!; at < contentStart[row + 1]!; at++) {
      if (ids[at] === 0) continue;
      const key = place * (contentCount + 1) + ids[at]!;
      const id = own.get(key) ?? own.size + 1;
      own.set(key, id);
      ids[at] = id;
    }
  }
  return { ...rest, adapter, contentIds: ids, contentStart, contentCount: own.size };
}
