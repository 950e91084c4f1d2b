import { randomBytes } from 'node:crypto';
import { BatonError } from '@baton/contract';
import {
  type ResponseItem,
  conversationObject,
  itemsPage,
  readConversation,
  readConversationItems,
  readMetadata,
} from '@baton/responses';
import { Injectable } from '@nestjs/common';
import type { Owned } from '../../http/access/tenant';
import type { Tenant } from '../../http/request-context';
import { tooLarge } from '../../cluster/document-collection';
import { ConversationStore, notFound, type StoredConversation } from './conversation-store';

/** The operations of clients on conversations; responses read and append on their own. */
@Injectable()
export class ConversationsService {
  constructor(private readonly store: ConversationStore) {}

  async create(owner: Tenant, body: unknown): Promise<object> {
    const { metadata, items } = readConversation(body, newId);
    const createdAt = Math.floor(Date.now() / 1_000);
    const stored = { id: newId('conv'), createdAt, metadata, items };
    if (!(await this.store.add({ owner, id: stored.id }, stored))) throw tooLarge();
    return conversationObject(stored);
  }

  async retrieve(at: Owned): Promise<object> {
    return conversationObject(await this.store.need(at));
  }

  async update(at: Owned, body: unknown): Promise<object> {
    const metadata = readMetadata(body);
    return conversationObject(await this.store.change(at, (now) => ({ ...now, metadata })));
  }

  async remove(at: Owned): Promise<void> {
    if (!(await this.store.remove(at))) notFound(at);
  }

  /** The page of the items that were added. */
  async addItems(at: Owned, body: unknown): Promise<string> {
    const items = readConversationItems(body, newId);
    await this.store.append(at, items);
    return itemsPage(items, { order: 'asc' });
  }

  async listItems(at: Owned, query: Readonly<Record<string, unknown>>): Promise<string> {
    return itemsPage((await this.store.need(at)).items, query);
  }

  async item(at: Owned, itemId: string): Promise<ResponseItem> {
    const { items } = await this.store.need(at);
    return items.find((one) => one.id === itemId) ?? noItem(itemId);
  }

  async removeItem(at: Owned, itemId: string): Promise<object> {
    const without = (now: StoredConversation): StoredConversation => {
      const items = now.items.filter((one) => one.id !== itemId);
      return items.length < now.items.length ? { ...now, items } : noItem(itemId);
    };
    return conversationObject(await this.store.change(at, without));
  }
}

function noItem(id: string): never {
  throw new BatonError('item_not_found', `Item with id '${id.slice(0, 200)}' not found.`);
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}
