import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { ResponseItem } from '@baton/responses';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, TRANSPORT } from '../../tokens';
import type { Owned } from '../../http/access/tenant';
import { DocumentCollection, storedBounds } from '../../cluster/document-collection';

export interface StoredConversation {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly createdAt: number;
  readonly metadata: object;
  /** The oldest first. */
  readonly items: readonly ResponseItem[];
}

/** The conversations, under the bounds of stored responses. */
@Injectable()
export class ConversationStore extends DocumentCollection<StoredConversation> {
  constructor(@Inject(CONFIG) config: BatonConfig, @Inject(TRANSPORT) transport: Transport) {
    super(transport, { collection: 'conversations', ...storedBounds(config) });
  }

  /** Throws `conversation_not_found`. */
  async need(at: Owned): Promise<StoredConversation> {
    return (await this.find(at)) ?? notFound(at);
  }

  /** Throws `conversation_not_found`. */
  async change(
    at: Owned,
    change: (conversation: StoredConversation) => StoredConversation,
  ): Promise<StoredConversation> {
    return (await this.update(at, change)) ?? notFound(at);
  }

  async append(at: Owned, items: readonly ResponseItem[]): Promise<StoredConversation> {
    return this.change(at, (now) => ({ ...now, items: [...now.items, ...items] }));
  }
}

export function notFound({ id }: Owned): never {
  const message = `Conversation with id '${id.slice(0, 200)}' not found.`;
  throw new BatonError('conversation_not_found', message);
}
