import type { BatonConfig } from '@baton/config';
import { BatonError, type ErrorCode } from '@baton/contract';
import type { Transport } from '@baton/transport';
import type { Owned } from '../http/access/tenant';
import { DocumentCollection } from './document-collection';

export interface StoredKind {
  /** The name of the collection in the broker. */
  readonly collection: string;
  /** The error for a document that does not exist. */
  readonly missing: ErrorCode;
  /** The word for a document in the message of that error. */
  readonly named: string;
}

/** Documents that clients store and read by id. All kinds have the same bounds. */
export class StoredDocuments<Document> extends DocumentCollection<Document> {
  constructor(
    config: BatonConfig,
    transport: Transport,
    private readonly kind: StoredKind,
  ) {
    super(transport, {
      collection: kind.collection,
      maxEntries: config.responsesMaxEntries,
      ttlMs: Math.ceil(config.responsesTtl * 1000),
    });
  }

  /** Throws the error of its kind when the document does not exist, like the methods below. */
  async need(at: Owned): Promise<Document> {
    return (await this.find(at)) ?? this.notFound(at);
  }

  async needText(at: Owned): Promise<string> {
    return (await this.text(at)) ?? this.notFound(at);
  }

  /**
   * Changes an existing document, as `update` does. A `change` that returns undefined leaves it as
   * it is.
   */
  async change(at: Owned, change: (document: Document) => Document | undefined): Promise<Document> {
    return (await this.update(at, change)) ?? this.notFound(at);
  }

  async changeText(
    at: Owned,
    change: (text: string) => string | undefined | Promise<string>,
  ): Promise<string> {
    return (await this.updateText(at, change)) ?? this.notFound(at);
  }

  /** Adds entries to its last list, as `extend` does. */
  async lengthen(at: Owned, entries: string): Promise<void> {
    if (!(await this.extend(at, entries))) this.notFound(at);
  }

  async drop(at: Owned): Promise<void> {
    if (!(await this.remove(at))) this.notFound(at);
  }

  private notFound({ id }: Owned): never {
    const { missing, named } = this.kind;
    throw new BatonError(missing, `${named} with id '${id.slice(0, 200)}' not found.`);
  }
}
