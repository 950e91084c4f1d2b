import { type ChatHead, chatHead } from '@baton/responses';
import { Injectable } from '@nestjs/common';
import { StoredDocuments } from '../../cluster/stored-documents';
import type { Tenant } from '../../http/request-context';
import { Config, Broker } from '../../tokens';

/** Heads that one call reads; the largest have 64 KiB each. */
const HEADS_AT_ONCE = 64;

/** Chat completions made with `store`. They have the bounds of stored responses. */
@Injectable()
export class ChatStore extends StoredDocuments<never> {
  constructor(config: Config, transport: Broker) {
    const kind = { missing: 'chat_not_found', named: 'Chat completion' } as const;
    super(config, transport, { collection: 'chat-texts', ...kind });
  }

  /** The heads of the tenant's chats, which lists are made of; in no order. */
  async heads(owner: Tenant): Promise<ChatHead[]> {
    const ids = await this.ids(owner);
    const heads: ChatHead[] = [];
    for (let at = 0; at < ids.length; at += HEADS_AT_ONCE) {
      const lines = await this.firstLines(owner, ids.slice(at, at + HEADS_AT_ONCE));
      heads.push(...lines.map(chatHead));
    }
    return heads;
  }
}
