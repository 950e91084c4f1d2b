/**
 * The order in which unused blocks are evicted. Findable ones are kept as spans, which are named by
 * their first block and evicted from their last; private ones are alike and only counted, by their
 * place between the others.
 */
export interface FreeOrder {
  /** Unused blocks. */
  readonly size: number;
  /** The span that comes first, once `takePrivate` gave fewer than requested. */
  readonly first: number;
  /** Spans that this order can keep are no longer than this. */
  readonly longestSpan: number;
  /** A span in use has become findable. */
  filled(first: number): void;
  /** The last owner of a span has gone. */
  freed(first: number, count: number): void;
  /** A free span is in use again. */
  used(first: number, count: number): void;
  /** A free span was cut in two; `upper` is where its last blocks begin. */
  split(first: number, upper: number): void;
  /** Blocks of the first span were given up; `isGone` when they were all. */
  evicted(first: number, count: number, isGone: boolean): void;
  /** Private blocks whose content could have been found if it had a hash. */
  freedPrivate(count: number): void;
  /** Private blocks that are not full: nothing is lost with them. */
  freedPartial(count: number): void;
  /** Takes private blocks, at most `most`, as far as they come first. */
  takePrivate(most: number): number;
  /** Spans in order, -1 for each private block. O(blocks). */
  toArray(): number[];
}
