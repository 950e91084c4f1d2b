/**
 * The data of a span of blocks is in the row of its first one, four integers from `id << ROW` on.
 *
 * - `LENGTH`: 0 where no span begins, positive for a free span, negative for one in use
 * - `OWNERS`: only of a span in use
 * - `NEXT`, `PREV`: the neighbours of a free span in the order of eviction
 * - `GAP`: the number of private blocks before a free span
 */
export const SPAN = { ROW: 2, LENGTH: 0, OWNERS: 1, NEXT: 1, PREV: 2, GAP: 3 } as const;
