/**
 * Documents that any process may read: small, few, and forgotten after a while. A collection holds
 * the latest used of them; evicted, expired and removed ones are gone alike.
 */
export interface DocumentStore {
  /** Stores or overwrites. `too-large`: nothing was stored. */
  put(
    place: DocumentPlace,
    document: string,
    bounds: CollectionBounds,
  ): Promise<'stored' | 'too-large'>;
  /**
   * Overwrites a document if it still is what the caller has read. `changed`: it is another one, or
   * gone; nothing was stored.
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
  /** Counts as a use. */
  get(place: DocumentPlace): Promise<string | undefined>;
  /**
   * The ids of a collection, at most as many as it holds, the least recently used first. Some may
   * have expired since.
   */
  ids(collection: string): Promise<readonly string[]>;
  /**
   * The first line of each document, up to 64 KiB of it. Reading it is no use of the document.
   * Undefined: it is gone.
   */
  firstLines(collection: string, ids: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** False when there was none. Of two concurrent callers one gets true. */
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
  /** Since it was last written. */
  readonly ttlMs: number;
}
