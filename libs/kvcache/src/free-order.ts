/**
 * The order in which unused blocks are evicted. Findable ones are kept as spans, named by their
 * first block and evicted from their last; private ones are interchangeable and only counted, by
 * their place between the others.
 */
export interface FreeOrder {
  /** Unused blocks. */
  readonly size: number;
  /** The first span, valid once `takePrivate` has given fewer than requested. */
  readonly first: number;
  /** Length of the longest span that this order can keep. */
  readonly longestSpan: number;
  /** A span in use has become findable. */
  filled(first: number): void;
  /** Records that the last owner of a span has left. */
  freed(first: number, count: number): void;
  /** A free span is in use again. */
  used(first: number, count: number): void;
  /** A free span was split in two; `upper` is the first block of its second part. */
  split(first: number, upper: number): void;
  /** Blocks of the first span were evicted; `isGone` when all of them were. */
  evicted(first: number, count: number, isGone: boolean): void;
  /** Full private blocks were freed. */
  freedPrivate(count: number): void;
  /** Partial private blocks were freed; no content is lost with them. */
  freedPartial(count: number): void;
  /** Takes at most `most` private blocks, as long as they come before the first span. */
  takePrivate(most: number): number;
  /** Spans in order, -1 for each private block. O(blocks). */
  toArray(): number[];
}
