import type { ConversationHead, StoredConversation } from '@baton/responses';
import { Injectable } from '@nestjs/common';
import { StoredDocuments } from '../../cluster/stored-documents';
import type { Owned } from '../../http/access/tenant';
import { Config, Broker } from '../../tokens';

/** The stored conversations. Their texts can be long, so most changes do not parse them. */
@Injectable()
export class ConversationStore extends StoredDocuments<StoredConversation> {
  constructor(config: Config, transport: Broker) {
    const kind = { missing: 'conversation_not_found', named: 'Conversation' } as const;
    super(config, transport, { collection: 'conversations', ...kind });
  }

  /** @param lists JSON lists of items */
  async append(at: Owned, ...lists: readonly string[]): Promise<void> {
    const entries = lists.map((list) => list.slice(1, -1)).filter((items) => items !== '');
    if (entries.length > 0) await this.lengthen(at, entries.join(','));
    else await this.needText(at);
  }
}

/** Values in metadata are strings, so the first such key is the conversation's own. */
const ITEMS = ',"items":[';

/** @param items a JSON list */
export function conversationText(head: ConversationHead, items: string): string {
  const { id, createdAt, metadata } = head;
  return `${JSON.stringify({ id, createdAt, metadata }).slice(0, -1)},"items":${items}}`;
}

/** A stored conversation without its items. */
export function conversationHead(text: string): ConversationHead {
  return JSON.parse(`${text.slice(0, text.indexOf(ITEMS))}}`) as ConversationHead;
}

/** A stored conversation with other metadata. */
export function withNewMetadata(text: string, metadata: object): string {
  const at = text.indexOf(ITEMS) + ITEMS.length - 1;
  return conversationText({ ...conversationHead(text), metadata }, text.slice(at, -1));
}
