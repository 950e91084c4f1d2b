/**
 * Is told what can be found in a block pool. A hash is named once when it can be found and once
 * when it cannot be any more.
 */
export interface ContentWatcher {
  /** A full block can be found; `parent` is the hash of the one before it, 0 at the beginning. */
  stored(hash: number, parent: number): void;
  /** It was given up. */
  removed(hash: number): void;
  /** Nothing can be found any more. */
  cleared(): void;
}
