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
import type { Owned } from '../../http/access/tenant';
import { contextOf, type Tenant } from '../../http/request-context';
import { type Ask, type Asked, type Received, TEXT_ENDPOINTS } from '../../request/take/call';
import { LOGGER } from '../../tokens';
import { ChatStore } from './chat-store';
import { KeptAnswer } from './kept-answer';

type Query = Readonly<Record<string, unknown>>;

/** What is kept of a call, beside its answer. */
interface Keeping {
  readonly fields: Query;
  readonly arrivalUs: number;
  readonly owner: Tenant;
}

/** Chats with `store`: keeps them as they are answered, and serves them again. */
@Injectable()
export class StoredChatsService {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly store: ChatStore,
  ) {}

  /**
   * Checks the body of a call, and keeps its answer. It has no name in threads: what is kept is
   * gathered on the event loop, within its bounds.
   */
  asking({ body, request }: Received): Ask {
    const { arrivalUs, tenant } = contextOf(request.raw);
    const { chat } = TEXT_ENDPOINTS;
    return {
      read: (given, limits) => {
        const reading = chat.read(given, limits);
        checkStoring(objectBody(given));
        return reading;
      },
      asked: (reading, limits) => {
        const keeping = { fields: objectBody(body), arrivalUs, owner: tenant };
        return this.kept(chat.asked(reading, limits), keeping);
      },
    };
  }

  /** One page of what is stored, by default the oldest first. */
  async list(owner: Tenant, query: Query): Promise<string> {
    const { data, hasMore } = pageOf(await this.store.list(owner, query), {
      order: 'asc',
      ...query,
    });
    const chats = await this.store.all(
      owner,
      data.map(({ id }) => id),
    );
    return listBody({ data: chats.map(({ completion }) => completion), hasMore });
  }

  async find(at: Owned): Promise<ChatObject> {
    return (await this.store.need(at)).completion;
  }

  async messages(at: Owned, query: Query): Promise<string> {
    const { messages } = await this.store.need(at);
    return listBody(pageOf(messages, { order: 'asc', ...query }));
  }

  async update(at: Owned, body: unknown): Promise<ChatObject> {
    const metadata = readMetadata(body);
    const change = await this.store.change(at, (stored) => withMetadata(stored, metadata));
    return change.completion;
  }

  async remove(at: Owned): Promise<void> {
    await this.store.drop(at);
  }

  private kept(asked: Asked, { fields, arrivalUs, owner }: Keeping): Asked {
    const { request } = asked;
    return {
      ...asked,
      answer: (parts) => {
        const { head, plans } = parts;
        const options = { ...parts.options, dialect: 'openai' } as const;
        return new KeptAnswer(asked.answer(parts), plans, async (results, { cachedTokens }) => {
          const answer = renderFinal({ request, head, options }, results, { cachedTokens });
          await this.keep({ owner, id: head.id }, storedChat(fields, answer, arrivalUs));
        });
      },
    };
  }

  private async keep(at: Owned, stored: ReturnType<typeof storedChat>): Promise<void> {
    try {
      const isStored = await this.store.add(at, stored);
      if (!isStored) this.logger.warn({ chat: at.id }, 'chat completion too large to store');
    } catch (error) {
      this.logger.warn({ chat: at.id, err: error }, 'chat completion not stored');
    }
  }
}
