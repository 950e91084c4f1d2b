import { spendWork } from '@baton/kernel';

/**
 * The rank of a token's bytes; undefined: they form no token. The bytes are the characters (0 to
 * 255) of a string, so that a slice can be a map key.
 */
export type RankOf = (bytes: string) => number | undefined;

/** Bytes above which the heap is faster than a scan over the pairs. */
const SCAN_LIMIT = 64;
const NO_RANK = 0x7fff_ffff;
/** More than any position, so that (rank, position) is one exactly ordered number. */
const POSITIONS = 2 ** 21;

/**
 * Appends the tokens of one pre-token to `ids`: byte-pair encoding as tiktoken defines it. Of all
 * neighbouring pairs that form a token, the one of lowest rank is merged, the leftmost first, until
 * none is left. Every single byte must have a rank.
 *
 * It counts as work, because text that is no language takes twenty times as long as words do.
 *
 * @throws WorkExceeded
 */
export function mergeBytes(bytes: string, rankOf: RankOf, ids: number[]): void {
  if (bytes.length <= SCAN_LIMIT) {
    spendWork(bytes.length >> 2);
    mergeByScan(bytes, rankOf, ids);
  } else {
    spendWork(bytes.length >> 1);
    mergeByHeap(bytes, rankOf, ids);
  }
}

function mergeByScan(bytes: string, rankOf: RankOf, ids: number[]): void {
  const starts: number[] = [];
  for (let i = 0; i <= bytes.length; i++) starts.push(i);
  const rankAt = (i: number): number => {
    const end = starts[i + 2];
    return end === undefined ? NO_RANK : (rankOf(bytes.slice(starts[i], end)) ?? NO_RANK);
  };
  const ranks: number[] = [];
  for (let i = 0; i < starts.length; i++) ranks.push(rankAt(i));
  for (;;) {
    let best = 0;
    for (let i = 1; i < ranks.length; i++) if (ranks[i]! < ranks[best]!) best = i;
    if (ranks[best] === NO_RANK) break;
    starts.splice(best + 1, 1);
    ranks.splice(best + 1, 1);
    ranks[best] = rankAt(best);
    if (best > 0) ranks[best - 1] = rankAt(best - 1);
  }
  for (let i = 0; i + 1 < starts.length; i++) {
    ids.push(rankOf(bytes.slice(starts[i], starts[i + 1])) ?? 0);
  }
}

/**
 * Merges in O(n log n) with a linked list of parts and a heap of candidate pairs. Stale entries are
 * skipped when they reach the top.
 */
function mergeByHeap(bytes: string, rankOf: RankOf, ids: number[]): void {
  const n = bytes.length;
  const next = new Int32Array(n + 1);
  const previous = new Int32Array(n + 1);
  const ranks = new Int32Array(n + 1).fill(NO_RANK);
  const heap: number[] = [];
  const rate = (at: number): void => {
    const middle = next[at]!;
    const rank = middle >= n ? undefined : rankOf(bytes.slice(at, next[middle]));
    ranks[at] = rank ?? NO_RANK;
    if (rank !== undefined) pushHeap(heap, rank * POSITIONS + at);
  };
  for (let i = 0; i <= n; i++) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  for (let i = 0; i < n; i++) rate(i);
  while (heap.length > 0) {
    const top = popHeap(heap);
    const at = top % POSITIONS;
    if (ranks[at] !== Math.floor(top / POSITIONS)) continue;
    const gone = next[at]!;
    ranks[gone] = NO_RANK;
    next[at] = next[gone]!;
    if (next[at] <= n) previous[next[at]!] = at;
    rate(at);
    if (at > 0) rate(previous[at]!);
  }
  for (let at = 0; at < n; at = next[at]!) ids.push(rankOf(bytes.slice(at, next[at])) ?? 0);
}

function pushHeap(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= value) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = value;
}

function popHeap(heap: number[]): number {
  const top = heap[0]!;
  const value = heap.pop()!;
  const size = heap.length;
  if (size === 0) return top;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1]! < heap[child]!) child += 1;
    if (heap[child]! >= value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = value;
  return top;
}
