import { BatonError } from '@baton/contract';
import type { LoadedTexts, ResponseLinks } from '@baton/responses';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../http/request-context';
import { ConversationStore } from '../conversations/conversation-store';
import { ResponseStore } from './response-store';

/** Limit of characters that one request continues: two of the largest documents. */
const MAX_LOADED = 16 * 1024 * 1024;

/** The tenant and connection whose earlier turns a request may continue. */
export interface Rememberer {
  readonly owner: Tenant;
  readonly recall?: Recall | undefined;
}

/** The text of a response that only its own connection may continue. */
export type Recall = (id: string) => string | undefined;

/** Loads what requests continue: responses, conversations, and items by name. */
@Injectable()
export class ResponseMemory {
  constructor(
    private readonly responses: ResponseStore,
    private readonly conversations: ConversationStore,
  ) {}

  /**
   * Throws `previous_response_not_found`, `conversation_not_found`, and `request_too_complex` when
   * the referenced responses are too long.
   */
  async load(links: ResponseLinks, whose: Rememberer): Promise<LoadedTexts> {
    const { conversationId, previousResponseId, referenced } = links;
    const { owner } = whose;
    const others = { referenced: await this.referenced(referenced, owner) };
    if (conversationId !== undefined) {
      const at = { owner, id: conversationId };
      return { ...others, conversation: await this.conversations.needText(at) };
    }
    if (previousResponseId === undefined) return others;
    return { ...others, previous: await this.previous(previousResponseId, whose) };
  }

  private async previous(id: string, { owner, recall }: Rememberer): Promise<string> {
    const found = recall?.(id) ?? (await this.responses.text({ owner, id }));
    if (found !== undefined) return found;
    const message = `Previous response with id '${id.slice(0, 200)}' not found.`;
    throw new BatonError('previous_response_not_found', message, 'previous_response_id');
  }

  private async referenced(ids: readonly string[], owner: Tenant): Promise<string[]> {
    const texts: string[] = [];
    let length = 0;
    for (const id of ids) {
      const text = await this.responses.text({ owner, id });
      if (text === undefined) continue;
      length += text.length;
      if (length > MAX_LOADED) throw new BatonError('request_too_complex');
      texts.push(text);
    }
    return texts;
  }
}
