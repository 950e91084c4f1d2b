/**
 * The data of a span of blocks is in the row of its first one, four integers from `id << ROW` on.
 * `LENGTH` is 0 where no span begins, positive for a free one, negative for one in use, which then
 * has `OWNERS`; a free one has its neighbours in the order of eviction, and the number of private
 * blocks before it (`GAP`).
 */
export const SPAN = { ROW: 2, LENGTH: 0, OWNERS: 1, NEXT: 1, PREV: 2, GAP: 3 } as const;
