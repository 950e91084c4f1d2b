import { objectBody, renderFinal } from '@baton/openai';
import {
  type ChatObject,
  isToBeStored,
  itemsPage,
  listBody,
  pageOf,
  readMetadata,
  storedChat,
  withMetadata,
} from '@baton/responses';
import type { Logger } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { type Ask, type Asked, TEXT_ENDPOINTS } from '../../request/take/call';
import { LOGGER } from '../../tokens';
import { ChatStore, notFound } from './chat-store';
import { KeptAnswer } from './kept-answer';

type Query = Readonly<Record<string, unknown>>;

/** Chats with `store`: keeps them as they are answered, and serves them again. */
@Injectable()
export class StoredChatsService {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly store: ChatStore,
  ) {}

  /** Checks a body, and keeps its answer if it asks for that. */
  ask(body: unknown, limits: Parameters<Ask>[1], arrivedUs: number): Asked {
    const asked = TEXT_ENDPOINTS.chat(body, limits);
    return isToBeStored(body) ? this.kept(asked, objectBody(body), arrivedUs) : asked;
  }

  /** One page of what is stored, by default the oldest first. */
  async list(query: Query): Promise<string> {
    const { data, hasMore } = pageOf(await this.store.list(query), { order: 'asc', ...query });
    const chats = await this.store.all(data.map(({ id }) => id));
    return listBody({ data: chats.map(({ completion }) => completion), hasMore });
  }

  async find(id: string): Promise<ChatObject> {
    return (await this.store.need(id)).completion;
  }

  async messages(id: string, query: Query): Promise<string> {
    const { messages } = await this.store.need(id);
    return itemsPage(messages, { order: 'asc', ...query });
  }

  async update(id: string, body: unknown): Promise<ChatObject> {
    const metadata = readMetadata(body);
    const change = await this.store.change(id, (stored) => withMetadata(stored, metadata));
    return change.completion;
  }

  async remove(id: string): Promise<void> {
    if (!(await this.store.remove(id))) notFound(id);
  }

  private kept(asked: Asked, body: Query, arrivedUs: number): Asked {
    const { request } = asked;
    return {
      ...asked,
      answer: (parts) => {
        const { head, plans } = parts;
        const options = { ...parts.options, dialect: 'openai' } as const;
        return new KeptAnswer(asked.answer(parts), plans, async (results, { cachedTokens }) => {
          const answer = renderFinal({ request, head, options }, results, { cachedTokens });
          await this.keep(head.id, storedChat(body, answer, arrivedUs));
        });
      },
    };
  }

  private async keep(id: string, stored: ReturnType<typeof storedChat>): Promise<void> {
    try {
      const isStored = await this.store.add(id, stored);
      if (!isStored) this.logger.warn({ chat: id }, 'chat completion too large to store');
    } catch (error) {
      this.logger.warn({ chat: id, err: error }, 'chat completion not stored');
    }
  }
}
