import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import type { CollectionBounds, DocumentPlace, Transport } from '@baton/transport';
import type { Owned } from '../http/access/tenant';
import { brokerError } from '../http/broker-error';
import type { Tenant } from '../http/request-context';

/** Of several writers to one document one wins each try: this many tries serve as many writers. */
const MAX_TRIES = 64;
/** Characters of a text that is read, changed and sent in turns of the event loop of their own. */
const LONG_TEXT = 1024 * 1024;

/**
 * Documents of one kind in the broker, so that any API process can serve them. Evicted, expired and
 * removed ones are gone alike. Each tenant has a collection of its own, with the bounds of its own:
 * none finds, evicts or overwrites what another has.
 */
export class DocumentCollection<Document> {
  /** The last of those in this process that write to a document. */
  private readonly writers = new Map<string, Promise<unknown>>();

  constructor(
    private readonly transport: Transport,
    private readonly options: CollectionBounds & { readonly collection: string },
  ) {}

  async find(at: Owned): Promise<Document | undefined> {
    const text = await this.text(at);
    return text === undefined ? undefined : (JSON.parse(text) as Document);
  }

  /** A document as it is stored: JSON that may be too long to parse on the event loop. */
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
   * Changes what is there, also beside other writers. A `change` that returns undefined leaves it.
   * Resolves to the document afterwards, undefined when it is gone. Throws when it has become
   * larger than the store allows.
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

  /** The same with the text of the document. */
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

  /** The ids of all documents of the tenant, in the order of their last use. */
  ids(owner: Tenant): Promise<readonly string[]> {
    return whole(this.transport.documents.ids(this.collectionOf(owner)));
  }

  /** The first lines of those of the ids that are still there, without a use of them. */
  async firstLines(owner: Tenant, ids: readonly string[]): Promise<string[]> {
    const { documents } = this.transport;
    const lines = await whole(documents.firstLines(this.collectionOf(owner), ids));
    return lines.filter((line) => line !== undefined);
  }

  /** False when there was none. With two callers, one gets true. */
  remove(at: Owned): Promise<boolean> {
    return whole(this.transport.documents.remove(this.placeOf(at)));
  }

  private current(at: Owned): Promise<string | undefined> {
    return whole(this.transport.documents.get(this.placeOf(at)));
  }

  /** Each try sends the whole document: writers of one process do not try against each other. */
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
