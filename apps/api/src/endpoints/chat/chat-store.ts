import type { BatonConfig } from '@baton/config';
import { type ChatSummary, isListed, type StoredChat } from '@baton/responses';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { StoredDocuments } from '../../cluster/stored-documents';
import type { Tenant } from '../../http/request-context';
import { CONFIG, TRANSPORT } from '../../tokens';

type Query = Readonly<Record<string, unknown>>;

/** Chats that are read at once for a list: one of the largest needs 8 MiB. */
const READ_AT_ONCE = 8;

/** The chat completions with `store`, under the bounds of stored responses. */
@Injectable()
export class ChatStore extends StoredDocuments<StoredChat> {
  constructor(@Inject(CONFIG) config: BatonConfig, @Inject(TRANSPORT) transport: Transport) {
    const kind = { missing: 'chat_not_found', named: 'Chat completion' } as const;
    super(config, transport, { collection: 'chats', ...kind });
  }

  /** What a query of the tenant lists, the oldest first. */
  async list(owner: Tenant, query: Query): Promise<ChatSummary[]> {
    const ids = await this.ids(owner);
    const listed: ChatSummary[] = [];
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      const found = await this.all(owner, ids.slice(at, at + READ_AT_ONCE));
      for (const stored of found) {
        if (!isListed(stored, query)) continue;
        listed.push({ id: stored.completion.id, arrivedUs: stored.arrivedUs });
      }
    }
    return listed.sort((a, b) => a.arrivedUs - b.arrivedUs);
  }

  /** Those of the ids that are still there. */
  async all(owner: Tenant, ids: readonly string[]): Promise<StoredChat[]> {
    const found = await Promise.all(ids.map((id) => this.find({ owner, id })));
    return found.filter((stored) => stored !== undefined);
  }
}
