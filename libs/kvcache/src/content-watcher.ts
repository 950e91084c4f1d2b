/**
 * Receives the changes of a block pool's findable content: a hash once when it can be found and
 * once when it no longer can.
 */
export interface ContentWatcher {
  /**
   * A full block has become findable; `parent` is the hash of the one before it, 0 at the
   * beginning.
   */
  stored(hash: number, parent: number): void;
  /** The block is no longer findable. */
  removed(hash: number): void;
  /** Called when no block can be found any more. */
  cleared(): void;
}
