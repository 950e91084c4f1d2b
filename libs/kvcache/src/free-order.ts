/**
 * The order in which blocks that nobody uses are given up. Findable ones are known by id; private ones are alike and only counted, by where
 * they stand between the others.
 */
export interface FreeOrder {
  /** Blocks that nobody uses. */
  readonly size: number;
  /** A block in use has become findable. */
  filled(id: number): void;
  /** The last owner of a findable block has gone. */
  freed(id: number): void;
  /** Somebody uses a free findable block again. */
  used(id: number): void;
  freedPrivate(count: number): void;
  /** Takes private blocks, at most `most`, as far as they come first. */
  takePrivate(most: number): number;
  /** Takes the block that comes first, which is a findable one after `takePrivate` gave less than it was asked for. */
  takeFindable(): number;
  /** Ids in order, -1 for each private block. O(blocks). */
  toArray(): number[];
}
