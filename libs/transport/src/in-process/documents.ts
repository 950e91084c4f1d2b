import { MAX_DOCUMENT_BYTES, MAX_LINE_BYTES } from '../limits';
import type {
  CollectionBounds,
  DocumentChange,
  DocumentPlace,
  DocumentStore,
} from '../port/documents';
import { ExpiringMap } from './expiring-map';
import { type InProcessHub, monotonicMs } from './hub';

/** Documents in the hub's memory, least recently used first. */
export class MemoryDocuments implements DocumentStore {
  constructor(private readonly hub: InProcessHub) {}

  put(
    place: DocumentPlace,
    document: string,
    bounds: CollectionBounds,
  ): Promise<'stored' | 'too-large'> {
    return this.hub.call('store a document', () => {
      if (Buffer.byteLength(document) > MAX_DOCUMENT_BYTES) return 'too-large';
      this.write(place, document, bounds);
      return 'stored';
    });
  }

  replace(
    place: DocumentPlace,
    { from, to }: DocumentChange,
    bounds: CollectionBounds,
  ): Promise<'replaced' | 'changed' | 'too-large'> {
    return this.hub.call('replace a document', () => {
      if (Buffer.byteLength(to) > MAX_DOCUMENT_BYTES) return 'too-large';
      if (this.collection(place).get(place.id) !== from) return 'changed';
      this.write(place, to, bounds);
      return 'replaced';
    });
  }

  extend(
    place: DocumentPlace,
    entries: string,
    bounds: CollectionBounds,
  ): Promise<'extended' | 'gone' | 'too-large'> {
    return this.hub.call('extend a document', () => {
      const document = this.collection(place).get(place.id);
      if (document === undefined) return 'gone';
      const comma = document.endsWith('[]}') ? '' : ',';
      const extended = `${document.slice(0, -2)}${comma}${entries}]}`;
      if (Buffer.byteLength(extended) > MAX_DOCUMENT_BYTES) return 'too-large';
      this.write(place, extended, bounds);
      return 'extended';
    });
  }

  get(place: DocumentPlace): Promise<string | undefined> {
    return this.hub.call('read a document', () => {
      const collection = this.collection(place);
      collection.touch(place.id);
      return collection.get(place.id);
    });
  }

  ids(collection: string): Promise<readonly string[]> {
    return this.hub.call('list documents', () => this.hub.documents.get(collection)?.keys() ?? []);
  }

  firstLines(collection: string, ids: readonly string[]): Promise<readonly (string | undefined)[]> {
    return this.hub.call('read the first lines of documents', () =>
      ids.map((id) => {
        const document = this.collection({ collection, id }).get(id);
        return document?.slice(0, MAX_LINE_BYTES).split('\n', 1)[0];
      }),
    );
  }

  remove(place: DocumentPlace): Promise<boolean> {
    return this.hub.call('remove a document', () => {
      const collection = this.collection(place);
      const isThere = collection.has(place.id);
      collection.delete(place.id);
      return isThere;
    });
  }

  private write(place: DocumentPlace, document: string, bounds: CollectionBounds): void {
    const collection = this.collection(place);
    collection.set(place.id, document, bounds.ttlMs);
    collection.touch(place.id);
    collection.trim(bounds.maxEntries);
  }

  private collection({ collection }: DocumentPlace): ExpiringMap<string> {
    const { documents } = this.hub;
    const found = documents.get(collection) ?? new ExpiringMap<string>(monotonicMs);
    documents.set(collection, found);
    return found;
  }
}
