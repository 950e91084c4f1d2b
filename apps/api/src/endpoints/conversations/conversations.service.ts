import { conversationObject, newId, readMetadata } from '@baton/responses';
import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { tooLarge } from '../../cluster/document-collection';
import type { Owned } from '../../http/access/tenant';
import { bodyOfText } from '../../http/body/large-body';
import type { Tenant } from '../../http/request-context';
import type { AnswerExtra, BodyAnswer } from '../../request/threads/body-answers';
import { RequestThreads } from '../../request/threads/request-threads';
import {
  conversationHead,
  ConversationStore,
  conversationText,
  withNewMetadata,
} from './conversation-store';

type View = AnswerExtra<'stored-conversation'>;

/**
 * The operations of clients on conversations. Responses read and extend conversations without this
 * service.
 */
@Injectable()
export class ConversationsService {
  constructor(
    private readonly store: ConversationStore,
    private readonly threads: RequestThreads,
    private readonly catalog: ModelCatalog,
  ) {}

  async create(owner: Tenant, body: unknown): Promise<object> {
    const begun = await this.runTask('new-conversation', body);
    const createdAt = Math.floor(Date.now() / 1_000);
    const head = { id: newId('conv'), createdAt };
    // The stored text has the metadata before the items.
    const text = `${JSON.stringify(head).slice(0, -1)},${begun.slice(1)}`;
    if (!(await this.store.addText({ owner, id: head.id }, text))) throw tooLarge();
    return conversationObject(conversationHead(text));
  }

  async retrieve(at: Owned): Promise<object> {
    return conversationObject(conversationHead(await this.store.needText(at)));
  }

  async update(at: Owned, body: unknown): Promise<object> {
    const metadata = readMetadata(body);
    const text = await this.store.changeText(at, (now) => withNewMetadata(now, metadata));
    return conversationObject(conversationHead(text));
  }

  remove(at: Owned): Promise<void> {
    return this.store.drop(at);
  }

  /** Returns the added items as a page. */
  async addItems(at: Owned, body: unknown): Promise<string> {
    const items = await this.runTask('new-items', body);
    await this.store.append(at, items);
    const added = conversationText({ id: at.id, createdAt: 0, metadata: {} }, items);
    return this.renderView(added, { kind: 'items', query: { order: 'asc' } });
  }

  async listItems(at: Owned, query: Readonly<Record<string, unknown>>): Promise<string> {
    return this.renderView(await this.store.needText(at), { kind: 'items', query });
  }

  async item(at: Owned, id: string): Promise<string> {
    return this.renderView(await this.store.needText(at), { kind: 'item', id });
  }

  async removeItem(at: Owned, id: string): Promise<object> {
    const text = await this.store.changeText(at, (now) =>
      this.renderView(now, { kind: 'without', id }),
    );
    return conversationObject(conversationHead(text));
  }

  private renderView(text: string, view: View): Promise<string> {
    return this.runTask('stored-conversation', bodyOfText(text), view);
  }

  private async runTask<Name extends BodyAnswer>(
    name: Name,
    body: unknown,
    extra?: AnswerExtra<Name>,
  ): Promise<string> {
    const limits = this.catalog.limitsOf(undefined);
    return String(await this.threads.answer(name, { body, limits, extra }));
  }
}
