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
import { tooLarge } from '../../cluster/document-collection';
import { ConversationStore, notFound, type StoredConversation } from './conversation-store';

/** The operations of clients on conversations; responses read and append on their own. */
@Injectable()
export class ConversationsService {
  constructor(private readonly store: ConversationStore) {}

  async create(body: unknown): Promise<object> {
    const { metadata, items } = readConversation(body, newId);
    const createdAt = Math.floor(Date.now() / 1_000);
    const stored = { id: newId('conv'), createdAt, metadata, items };
    if (!(await this.store.add(stored.id, stored))) throw tooLarge();
    return conversationObject(stored);
  }

  async retrieve(id: string): Promise<object> {
    return conversationObject(await this.store.need(id));
  }

  async update(id: string, body: unknown): Promise<object> {
    const metadata = readMetadata(body);
    return conversationObject(await this.store.change(id, (now) => ({ ...now, metadata })));
  }

  async remove(id: string): Promise<void> {
    if (!(await this.store.remove(id))) notFound(id);
  }

  /** The page of the items that were added. */
  async addItems(id: string, body: unknown): Promise<string> {
    const items = readConversationItems(body, newId);
    await this.store.append(id, items);
    return itemsPage(items, { order: 'asc' });
  }

  async listItems(id: string, query: Readonly<Record<string, unknown>>): Promise<string> {
    return itemsPage((await this.store.need(id)).items, query);
  }

  async item(id: string, itemId: string): Promise<ResponseItem> {
    const { items } = await this.store.need(id);
    return items.find((one) => one.id === itemId) ?? noItem(itemId);
  }

  async removeItem(id: string, itemId: string): Promise<object> {
    const without = (now: StoredConversation): StoredConversation => {
      const items = now.items.filter((one) => one.id !== itemId);
      return items.length < now.items.length ? { ...now, items } : noItem(itemId);
    };
    return conversationObject(await this.store.change(id, without));
  }
}

function noItem(id: string): never {
  throw new BatonError('item_not_found', `Item with id '${id.slice(0, 200)}' not found.`);
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}
