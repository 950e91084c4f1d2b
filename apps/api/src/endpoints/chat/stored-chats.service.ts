import { objectBody, renderFinal } from '@baton/openai';
import {
  type ChatObject,
  checkStoring,
  listBody,
  pageOf,
  readMetadata,
  storedChat,
  withMetadata,
} from '@baton/responses';
import type { Logger } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { contextOf } from '../../http/request-context';
import { type Ask, type Asked, type Received, TEXT_ENDPOINTS } from '../../request/take/call';
import { LOGGER } from '../../tokens';
import { ChatStore, noChat } from './chat-store';
import { KeptAnswer } from './kept-answer';

type Query = Readonly<Record<string, unknown>>;

/** Chats with `store`: keeps them as they are answered, and serves them again. */
@Injectable()
export class StoredChatsService {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly store: ChatStore,
  ) {}

  /** Checks the body of a call, and keeps its answer. */
  asking({ request }: Received): Ask {
    const { arrivalUs } = contextOf(request.raw);
    return (body, limits) => {
      const asked = TEXT_ENDPOINTS.chat(body, limits);
      const fields = objectBody(body);
      checkStoring(fields);
      return this.kept(asked, fields, arrivalUs);
    };
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
    return listBody(pageOf(messages, { order: 'asc', ...query }));
  }

  async update(id: string, body: unknown): Promise<ChatObject> {
    const metadata = readMetadata(body);
    const change = await this.store.change(id, (stored) => withMetadata(stored, metadata));
    return change.completion;
  }

  async remove(id: string): Promise<void> {
    if (!(await this.store.remove(id))) noChat(id);
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
