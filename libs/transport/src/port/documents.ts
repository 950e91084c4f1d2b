/**
 * Documents that any process can read: small, few, and dropped after a time. A collection keeps the
 * most recently used ones. An evicted, expired or removed document does not exist any more.
 */
export interface DocumentStore {
  /** Stores or overwrites. `too-large`: nothing was stored. */
  put(
    place: DocumentPlace,
    document: string,
    bounds: CollectionBounds,
  ): Promise<'stored' | 'too-large'>;
  /**
   * Overwrites a document if it is unchanged since the caller read it. `changed`: it is different
   * or gone, and nothing was stored.
   */
  replace(
    place: DocumentPlace,
    change: DocumentChange,
    bounds: CollectionBounds,
  ): Promise<'replaced' | 'changed' | 'too-large'>;
  /**
   * Adds entries to the list with which a document ends (`…[…]}`), however long that is.
   *
   * @param entries JSON, with commas between them
   */
  extend(
    place: DocumentPlace,
    entries: string,
    bounds: CollectionBounds,
  ): Promise<'extended' | 'gone' | 'too-large'>;
  /** Reads a document; this counts as a use. */
  get(place: DocumentPlace): Promise<string | undefined>;
  /**
   * The ids of a collection, least recently used first, at most its limit. Some documents may have
   * expired since.
   */
  ids(collection: string): Promise<readonly string[]>;
  /**
   * The first line of each document, at most 64 KiB; undefined when it is gone. Does not count as a
   * use.
   */
  firstLines(collection: string, ids: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Removes a document. False when it does not exist. Of two concurrent callers, one gets true. */
  remove(place: DocumentPlace): Promise<boolean>;
}

export interface DocumentPlace {
  readonly collection: string;
  readonly id: string;
}

export interface DocumentChange {
  readonly from: string;
  readonly to: string;
}

export interface CollectionBounds {
  /** The least recently used documents beyond it are evicted. */
  readonly maxEntries: number;
  /** Time to live since the last write. */
  readonly ttlMs: number;
}
