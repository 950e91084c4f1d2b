import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '@baton/kernel';
import { MAX_DOCUMENT_BYTES, MAX_LINE_BYTES } from '../limits';
import type {
  CollectionBounds,
  DocumentChange,
  DocumentPlace,
  DocumentStore,
} from '../port/documents';
import {
  EXTEND_DOCUMENT,
  NOTE_DOCUMENT,
  READ_DOCUMENT,
  READ_FIRST_LINES,
  REMOVE_DOCUMENT,
  REPLACE_DOCUMENT,
} from './documents-scripts';
import type { Keys } from './keys';
import type { RedisLink } from './connection/link';

/** Documents read at once. Other commands wait behind them, and one may have 8 MiB. */
const MAX_READS = 4;
/** Longer documents take turns of the event loop: ioredis copies at once what one turn sends. */
const LARGE_CHARACTERS = 262_144;

/**
 * Documents in Redis: one key each, and per collection a sorted set of ids by their last use.
 * Documents are written apart from the bookkeeping, so that a server without memory refuses them.
 */
export class RedisDocuments implements DocumentStore {
  private readonly reads = new Turns(MAX_READS);
  private readonly largeReads = new Turns(1);
  private readonly largeWrites = new Turns(1);

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
  ) {}

  async put(
    place: DocumentPlace,
    document: string,
    bounds: CollectionBounds,
  ): Promise<'stored' | 'too-large'> {
    const stored = await this.write('store a document', document, async (bytes) => {
      await this.link.commands.set(this.keyOf(place), bytes, 'PX', bounds.ttlMs);
      await this.note(place, bounds);
    });
    return stored ?? 'stored';
  }

  async replace(
    place: DocumentPlace,
    { from, to }: DocumentChange,
    bounds: CollectionBounds,
  ): Promise<'replaced' | 'changed' | 'too-large'> {
    return this.write('replace a document', to, async (bytes) => {
      const change = [Buffer.from(from), bytes, bounds.ttlMs];
      const reply = await this.link.scripts.run(REPLACE_DOCUMENT, [this.keyOf(place)], change);
      if (reply !== 1) return 'changed';
      await this.note(place, bounds);
      return 'replaced';
    });
  }

  extend(
    place: DocumentPlace,
    entries: string,
    bounds: CollectionBounds,
  ): Promise<'extended' | 'gone' | 'too-large'> {
    return this.write('extend a document', entries, async (bytes) => {
      const values = [bytes, MAX_DOCUMENT_BYTES, bounds.ttlMs];
      const reply = await this.link.scripts.run(EXTEND_DOCUMENT, [this.keyOf(place)], values);
      if (reply !== 1) return reply === 0 ? 'gone' : 'too-large';
      await this.note(place, bounds);
      return 'extended';
    });
  }

  async get(place: DocumentPlace): Promise<string | undefined> {
    const reply = await this.read('read a document', READ_DOCUMENT, this.both(place), [place.id]);
    if (typeof reply !== 'string') return undefined;
    if (reply.length > LARGE_CHARACTERS) await this.largeReads.take(() => nextTurn());
    return reply;
  }

  ids(collection: string): Promise<readonly string[]> {
    return this.link.ask('list documents', () =>
      this.link.commands.zrange(this.keys.documentUses(collection), 0, -1),
    );
  }

  async firstLines(
    collection: string,
    ids: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const keys = ids.map((id) => this.keyOf({ collection, id }));
    const lines = await this.read('read first lines', READ_FIRST_LINES, keys, [MAX_LINE_BYTES]);
    return (lines as readonly string[]).map((line) => (line === '' ? undefined : line));
  }

  async remove(place: DocumentPlace): Promise<boolean> {
    const reply = await this.link.ask('remove a document', () =>
      this.link.scripts.run(REMOVE_DOCUMENT, this.both(place), [place.id]),
    );
    return reply === 1;
  }

  private read(what: string, ...run: Parameters<RedisLink['scripts']['run']>): Promise<unknown> {
    return this.reads.take(() => this.link.ask(what, () => this.link.scripts.run(...run)));
  }

  private write<T>(
    what: string,
    document: string,
    act: (bytes: Buffer) => Promise<T>,
  ): Promise<T | 'too-large'> {
    const isLarge = document.length > LARGE_CHARACTERS;
    const write = async (): Promise<T | 'too-large'> => {
      // V8 joins the parts of a text at the first access.
      if (isLarge) await nextTurn().then(() => nextTurn(document.charCodeAt(0)));
      const bytes = bytesOf(document);
      if (bytes === undefined) return 'too-large';
      if (isLarge) await nextTurn();
      return this.link.ask(what, () => act(bytes), bytes.length);
    };
    return isLarge ? this.largeWrites.take(write) : write();
  }

  private async note(place: DocumentPlace, { maxEntries, ttlMs }: CollectionBounds): Promise<void> {
    const prefix = this.keys.document(place.collection, '');
    const values = [place.id, prefix, maxEntries, ttlMs];
    await this.link.scripts.run(NOTE_DOCUMENT, this.both(place), values);
  }

  private keyOf({ collection, id }: DocumentPlace): string {
    return this.keys.document(collection, id);
  }

  private both(place: DocumentPlace): [string, string] {
    return [this.keyOf(place), this.keys.documentUses(place.collection)];
  }
}

/** The bytes to send: ioredis copies a long text more often. Undefined: too long. */
function bytesOf(document: string): Buffer | undefined {
  if (document.length > MAX_DOCUMENT_BYTES) return undefined;
  const bytes = Buffer.from(document);
  return bytes.length > MAX_DOCUMENT_BYTES ? undefined : bytes;
}
