import { BatonError } from '@baton/contract';
import {
  followReferences,
  type ResponseDraft,
  responseIdOf,
  type ResponseItem,
} from '@baton/responses';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../http/request-context';
import { ConversationStore } from '../conversations/conversation-store';
import { ResponseStore, type StoredResponse } from './response-store';

/** Most earlier responses in which the references of one request are looked up. */
const MAX_REFERENCED = 64;

/** Whose earlier turns a request may go on with. */
export interface Rememberer {
  readonly owner: Tenant;
  readonly recall?: Recall | undefined;
}

/** A response that only its own connection may go on with. */
export type Recall = (id: string) => StoredResponse | undefined;

/** A request with all items that it continues. */
export interface Remembered {
  readonly draft: ResponseDraft;
  /** Items that come before its own. */
  readonly context: readonly ResponseItem[];
}

/** Loads what requests continue: responses, conversations, and items by name. */
@Injectable()
export class ResponseMemory {
  constructor(
    private readonly responses: ResponseStore,
    private readonly conversations: ConversationStore,
  ) {}

  /**
   * Throws `previous_response_not_found`, `conversation_not_found`, and for references to nothing.
   */
  async load(draft: ResponseDraft, whose: Rememberer): Promise<Remembered> {
    const context = await this.contextOf(draft, whose);
    const wanted = draft.own.filter(({ type }) => type === 'item_reference').map(({ id }) => id);
    if (wanted.length === 0) return { draft, context };
    const known = [...context, ...(await this.outputsWith(wanted, context, whose))];
    return { draft: { ...draft, own: followReferences(draft.own, known) }, context };
  }

  private async contextOf(
    { previousResponseId: id, conversationId }: ResponseDraft,
    { owner, recall }: Rememberer,
  ): Promise<readonly ResponseItem[]> {
    if (conversationId !== undefined) {
      return (await this.conversations.need({ owner, id: conversationId })).items;
    }
    if (id === undefined) return [];
    const found = recall?.(id) ?? (await this.responses.find({ owner, id }));
    if (found !== undefined) return [...found.context, ...found.input, ...found.response.output];
    const message = `Previous response with id '${id.slice(0, 200)}' not found.`;
    throw new BatonError('previous_response_not_found', message, 'previous_response_id');
  }

  /** Output of the stored responses that these items came from. */
  private async outputsWith(
    itemIds: readonly string[],
    context: readonly ResponseItem[],
    { owner }: Rememberer,
  ): Promise<ResponseItem[]> {
    const here = new Set(context.map(({ id }) => id));
    const missing = itemIds.filter((id) => !here.has(id)).map(responseIdOf);
    const ids = [...new Set(missing)].filter((id) => id !== undefined).slice(0, MAX_REFERENCED);
    const found = await Promise.all(ids.map((id) => this.responses.find({ owner, id })));
    return found.flatMap((stored) => stored?.response.output ?? []);
  }
}
