import {
  storedChatMessages,
  chatObject,
  isListed,
  joinedList,
  pageOf,
  readMetadata,
  withMetadata,
} from '@baton/responses';
import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import type { Owned } from '../../http/access/tenant';
import { bodyOfText } from '../../http/body/large-body';
import { contextOf, type Tenant } from '../../http/request-context';
import type { EndpointReader, Received } from '../../request/take/call';
import { RequestThreads } from '../../request/threads/request-threads';
import { Log } from '../../tokens';
import { storedChatReader } from './stored-chat-reader';
import { ChatStore } from './chat-store';

type Query = Readonly<Record<string, unknown>>;

/** A page of a list ends when its chats reach this many characters in total. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

/** Stores the answers of chats with `store`, and serves them again. */
@Injectable()
export class StoredChatsService {
  constructor(
    private readonly logger: Log,
    private readonly store: ChatStore,
    private readonly threads: RequestThreads,
    private readonly catalog: ModelCatalog,
  ) {}

  /** Reads a body that may have `store`, and stores the answer if it does. */
  readerFor({ request }: Received): EndpointReader {
    const { arrivalUs, tenant: owner } = contextOf(request.raw);
    return {
      ...(storedChatReader as EndpointReader),
      extra: arrivalUs,
      store: (id, document) => this.keep({ owner, id }, document),
    };
  }

  /** One page of the stored chats, by default the oldest first. */
  async list(owner: Tenant, query: Query): Promise<string> {
    const heads = await this.store.heads(owner);
    const listed = heads
      .filter((head) => isListed(head, query))
      .sort((a, b) => a.arrivedUs - b.arrivedUs);
    const { data, hasMore } = pageOf(listed, { order: 'asc', ...query });
    const shown: { readonly id: string; readonly text: string }[] = [];
    let length = 0;
    for (const { id } of data) {
      if (length >= MAX_PAGE_LENGTH) return joinedList(shown, true);
      const stored = await this.store.text({ owner, id });
      if (stored === undefined) continue;
      const text = chatObject(stored);
      shown.push({ id, text });
      length += text.length;
    }
    return joinedList(shown, hasMore);
  }

  /** A stored chat, as JSON. */
  async find(at: Owned): Promise<string> {
    return chatObject(await this.store.needText(at));
  }

  async messages(at: Owned, extra: Query): Promise<string> {
    const body = bodyOfText(storedChatMessages(await this.store.needText(at)));
    const limits = this.catalog.limitsOf(undefined);
    return String(await this.threads.answer('chat-messages', { body, limits, extra }));
  }

  /** The updated chat, as JSON. */
  async update(at: Owned, body: unknown): Promise<string> {
    const metadata = readMetadata(body);
    return chatObject(await this.store.changeText(at, (now) => withMetadata(now, metadata)));
  }

  async remove(at: Owned): Promise<void> {
    await this.store.drop(at);
  }

  private async keep(at: Owned, document: () => Promise<string>): Promise<void> {
    try {
      const isStored = await this.store.addText(at, await document());
      if (!isStored) this.logger.warn({ chat: at.id }, 'chat completion too large to store');
    } catch (error) {
      this.logger.warn({ chat: at.id, err: error }, 'storing a chat completion failed');
    }
  }
}
