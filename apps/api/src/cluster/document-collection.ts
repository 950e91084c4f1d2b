import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import type { CollectionBounds, DocumentPlace, Transport } from '@baton/transport';
import type { Owned } from '../http/access/tenant';
import { brokerError } from '../http/broker-error';
import type { Tenant } from '../http/request-context';

/**
 * Tries to change a document. When several writers change one document, each round lets one of them
 * succeed, so this many tries suffice for as many writers.
 */
const MAX_TRIES = 64;
/** Characters of a text that is read, changed and sent in turns of the event loop of their own. */
const LONG_TEXT = 1024 * 1024;

/**
 * Documents of one kind, kept in the broker so that any API process can serve them. An evicted,
 * expired or removed document does not exist any more. Each tenant has its own collection with its
 * own limits: no tenant finds, evicts or overwrites a document of another.
 */
export class DocumentCollection<Document> {
  /** The last pending write to each document in this process. */
  private readonly writers = new Map<string, Promise<unknown>>();

  constructor(
    private readonly transport: Transport,
    private readonly options: CollectionBounds & { readonly collection: string },
  ) {}

  async find(at: Owned): Promise<Document | undefined> {
    const text = await this.text(at);
    return text === undefined ? undefined : (JSON.parse(text) as Document);
  }

  /** A document as stored: JSON that can be too long to parse on the event loop. */
  text(at: Owned): Promise<string | undefined> {
    return this.current(at);
  }

  /** False when the document is larger than the store allows. */
  add(at: Owned, document: Document): Promise<boolean> {
    return this.addText(at, JSON.stringify(document));
  }

  /** False when the text is larger than the store allows. */
  async addText(at: Owned, text: string): Promise<boolean> {
    const { documents } = this.transport;
    const stored = await whole(documents.put(this.placeOf(at), text, this.options));
    return stored === 'stored';
  }

  /**
   * Changes an existing document, also while others write to it. A `change` that returns undefined
   * leaves it as it is. Resolves to the changed document, or to undefined when the document does
   * not exist. Throws when the result is larger than the store allows.
   */
  async update(
    at: Owned,
    change: (document: Document) => Document | undefined,
  ): Promise<Document | undefined> {
    let last: Document | undefined;
    const text = await this.updateText(at, (from) => {
      const before = JSON.parse(from) as Document;
      const after = change(before);
      last = after ?? before;
      return after === undefined ? undefined : JSON.stringify(after);
    });
    return text === undefined ? undefined : last;
  }

  /** Like `update`, on the text of the document. */
  updateText(at: Owned, change: TextChange): Promise<string | undefined> {
    return this.inTurn(at, () => this.tryUpdates(at, change));
  }

  /**
   * Adds entries to the list with which the document ends. False when there is no document. Throws
   * when it would become larger than the store allows.
   *
   * @param entries JSON, with commas between them
   */
  async extend(at: Owned, entries: string): Promise<boolean> {
    const { documents } = this.transport;
    const outcome = await whole(documents.extend(this.placeOf(at), entries, this.options));
    if (outcome === 'too-large') throw tooLarge();
    return outcome === 'extended';
  }

  private async tryUpdates(at: Owned, change: TextChange): Promise<string | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const from = await this.current(at);
      if (from === undefined) return undefined;
      if (from.length > LONG_TEXT) await nextTurn();
      const to = await change(from);
      if (to === undefined) return from;
      if (to.length > LONG_TEXT) await nextTurn();
      const { documents } = this.transport;
      const outcome = await whole(documents.replace(this.placeOf(at), { from, to }, this.options));
      if (outcome === 'replaced') return to;
      if (outcome === 'too-large') throw tooLarge();
    }
    throw new BatonError('engine_error');
  }

  /** The ids of all documents of the tenant, least recently used first. */
  ids(owner: Tenant): Promise<readonly string[]> {
    return whole(this.transport.documents.ids(this.collectionOf(owner)));
  }

  /** The first lines of the documents that still exist. Reading them does not count as use. */
  async firstLines(owner: Tenant, ids: readonly string[]): Promise<string[]> {
    const { documents } = this.transport;
    const lines = await whole(documents.firstLines(this.collectionOf(owner), ids));
    return lines.filter((line) => line !== undefined);
  }

  /** False when the document does not exist. Of two concurrent callers, one gets true. */
  remove(at: Owned): Promise<boolean> {
    return whole(this.transport.documents.remove(this.placeOf(at)));
  }

  private current(at: Owned): Promise<string | undefined> {
    return whole(this.transport.documents.get(this.placeOf(at)));
  }

  /**
   * Writers of one process take turns: each try sends the whole document, so a lost race is costly.
   */
  private inTurn<T>(at: Owned, write: () => Promise<T>): Promise<T> {
    const { collection, id } = this.placeOf(at);
    const key = `${collection}/${id}`;
    const written = (this.writers.get(key) ?? Promise.resolve()).then(write, write);
    this.writers.set(key, written);
    const leave = (): void => {
      if (this.writers.get(key) === written) this.writers.delete(key);
    };
    written.then(leave, leave);
    return written;
  }

  private placeOf({ owner, id }: Owned): DocumentPlace {
    return { collection: this.collectionOf(owner), id };
  }

  private collectionOf(owner: Tenant): string {
    const { collection } = this.options;
    return owner === undefined ? collection : `${collection}@${owner}`;
  }
}

type TextChange = (text: string) => string | undefined | Promise<string | undefined>;

export function tooLarge(): BatonError {
  return new BatonError('invalid_value', 'The conversation is larger than what can be stored.');
}

async function whole<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw brokerError(error);
  }
}
