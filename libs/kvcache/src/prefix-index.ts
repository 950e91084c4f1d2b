/**
 * Finds the block that holds the content of a hash. It owns which block carries which hash and nothing else; the pool decides what enters and
 * what goes. One block per hash: when the same content is computed twice, the block that came first stays the one that is found.
 */
export interface PrefixIndex {
  /** Blocks that can be found. */
  readonly size: number;
  /** The hash under which the block is found, 0 when it is not in the index. */
  hashOf(block: number): number;
  /** The block of this hash, -1 when there is none. */
  find(hash: number): number;
  /** Puts the block in under this hash; false, with nothing changed, when another block already stands for it. */
  add(hash: number, block: number): boolean;
  /** Takes the block out, which must be in. */
  remove(block: number): void;
}
