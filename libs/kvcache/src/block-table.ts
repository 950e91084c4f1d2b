/**
 * The findable blocks by hash. A block has an id, 1 or more, while it is findable or once its id
 * was requested; all others are private and interchangeable. There is one block per hash and layer
 * group: when the same content is computed twice, the first block stays findable.
 */
export interface BlockTable {
  /** Ids are 1..lastId. */
  readonly lastId: number;
  /** Blocks that can be found. */
  readonly size: number;
  /** The findable block of this hash in this group of layers, -1 when there is none. */
  find(hash: number, group: number): number;
  /** Whether the block, which is findable, is found under this hash. */
  isAt(hash: number, id: number): boolean;
  /** The hash under which the block is found, 0 when it is private. */
  hashOf(id: number): number;
  /**
   * Makes a private block findable, and returns its id; -1, with nothing changed, when another
   * block already has the hash.
   *
   * @param privateId the id that the block already has, -1 when it has none
   */
  enter(hash: number, privateId: number, group: number): number;
  /** Findable blocks, of consecutive ids, become private and lose their ids. */
  remove(first: number, count: number): void;
  /** An id for a private block. */
  drawPrivate(): number;
  vacatePrivate(id: number): void;
  /** Rises each time the id is given to other content. */
  generationOf(id: number): number;
}
