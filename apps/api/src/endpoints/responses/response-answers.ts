import { assert } from '@baton/kernel';
import {
  queuedResponse,
  type ReasoningEvents,
  type ResponseItem,
  type ResponseObject,
  ResponseOutcome,
  type ResponseRequest,
  StreamedResponse,
} from '@baton/responses';
import type { Logger } from '@baton/telemetry';
import { asciiJson } from '@baton/text';
import { Inject, Injectable } from '@nestjs/common';
import type { Answer } from '../../request/answer/answer';
import { StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import type { AnswerParts } from '../../request/take/call';
import { API_IDENTITY, type ApiIdentity, LOGGER } from '../../tokens';
import { ConversationStore } from '../conversations/conversation-store';
import type { Tenant } from '../../http/request-context';
import { Broadcasts } from './broadcasts';
import { DetachedResponse } from '../../http/detached-response';
import { EventsAnswer, type Listener } from './events-answer';
import { isResponseOver, ResponseStore, type StoredResponse } from './response-store';
import { type Keeper, StoredAnswer } from './stored-answer';

/** A response on its way. */
export interface ResponseParts {
  readonly id: string;
  readonly owner: Tenant;
  readonly request: ResponseRequest;
  /** Items of the earlier turns that it continues. */
  readonly context: readonly ResponseItem[];
  readonly reasoningEvents?: ReasoningEvents | undefined;
  /** Takes its events, unless the HTTP response of the request does. */
  readonly listener?: Listener | undefined;
  /** Keeps it for its own connection, whether it is stored or not. */
  readonly remember?: ((stored: StoredResponse) => void) | undefined;
}

/**
 * Makes the answers of responses: streamed or in one piece, stored or not, in the foreground or
 * background.
 */
@Injectable()
export class ResponseAnswers {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    private readonly store: ResponseStore,
    private readonly conversations: ConversationStore,
    private readonly broadcasts: Broadcasts,
  ) {}

  make(parts: ResponseParts, answering: AnswerParts): Answer {
    const { head, plans } = answering;
    const { request, reasoningEvents } = parts;
    const [plan] = plans;
    assert(plan, 'a response has one sequence');
    const options = { ...answering.options, reasoningEvents };
    const outcome = new ResponseOutcome({ request, head, plan, options }, nowSeconds);
    const answer = this.shown(parts, outcome, answering);
    return isKept(parts) ? new StoredAnswer(answer, outcome, this.keeper(parts, outcome)) : answer;
  }

  private shown(
    { id, request, listener }: ResponseParts,
    outcome: ResponseOutcome,
    { http, plans }: AnswerParts,
  ): Answer {
    const isQueued = isBackground(request);
    if (http.response instanceof DetachedResponse) {
      const hearer = isQueued ? this.broadcasts.open(id, listener) : listener;
      assert(hearer, 'an answer without an HTTP response has a listener');
      const stub = http.response;
      return new EventsAnswer(new StreamedResponse(outcome), hearer, { stub, isQueued });
    }
    if (request.generation.stream) return new StreamAnswer(http, new StreamedResponse(outcome));
    return new WholeAnswer(http, plans, ([result], { cachedTokens }) => {
      assert(result, 'the sequence has ended');
      return asciiJson(outcome.ended({ ...result, cachedTokens }));
    });
  }

  /** What is kept of a background response before anything is generated. */
  queued({ id, request, context }: ResponseParts, created: number): StoredResponse {
    const head = { id, created, model: request.generation.model };
    const response = queuedResponse({ request, head });
    return { response, context, input: request.own, deltas: [], apiId: this.identity.apiId };
  }

  private keeper(parts: ResponseParts, outcome: ResponseOutcome): Keeper {
    const { request, context } = parts;
    const stored = (response: ResponseObject): StoredResponse => ({
      response,
      context,
      input: request.own,
      deltas: outcome.deltas,
      apiId: isBackground(request) ? this.identity.apiId : undefined,
    });
    return {
      begun: () => this.begun(parts, outcome.started(), stored),
      ended: (response) =>
        this.safely(response, async () => {
          parts.remember?.(stored(response));
          await this.keep(parts, stored(response));
          await this.append(parts, response);
        }),
    };
  }

  private begun(
    { owner, request }: ResponseParts,
    started: ResponseObject,
    stored: (response: ResponseObject) => StoredResponse,
  ): Promise<void> {
    if (!isBackground(request)) return Promise.resolve();
    return this.safely(started, () =>
      this.store.update({ owner, id: started.id }, (now) =>
        now.response.status === 'queued' ? stored(started) : undefined,
      ),
    );
  }

  /**
   * A background response is in the store already: a cancelled one stays cancelled, a deleted one
   * stays deleted.
   */
  private async keep({ owner, request }: ResponseParts, stored: StoredResponse): Promise<void> {
    const { id, status } = stored.response;
    if (!request.isStored) return;
    if (isBackground(request)) {
      await this.store.update({ owner, id }, (now) => {
        const isSame = now.response.status === 'cancelled' && status === 'cancelled';
        return isResponseOver(now) && !isSame ? undefined : stored;
      });
      return;
    }
    // No client has seen a failed response that was not streamed.
    if (status === 'failed' && !request.generation.stream) return;
    const isStored = await this.store.add({ owner, id }, stored);
    if (!isStored) this.logger.warn({ response: id }, 'response too large to store');
  }

  /** Appends the new items to the conversation, unless the response failed. */
  private async append(
    { owner, request: { conversationId, own } }: ResponseParts,
    { status, output }: ResponseObject,
  ): Promise<void> {
    if (conversationId === undefined || (status !== 'completed' && status !== 'incomplete')) return;
    await this.conversations.append({ owner, id: conversationId }, [...own, ...output]);
  }

  private async safely({ id }: ResponseObject, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.logger.warn({ response: id, err: error }, 'response not stored');
    }
  }
}

function isKept({ request, remember }: ResponseParts): boolean {
  return request.isStored || request.conversationId !== undefined || remember !== undefined;
}

export function isBackground({ dto }: ResponseRequest): boolean {
  return dto.background === true;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
