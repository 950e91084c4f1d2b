import { BatonError } from '@baton/contract';
import { assert } from '@baton/kernel';
import {
  headOf,
  queuedResponse,
  type ReasoningEvents,
  type ResponseForms,
  type ResponseObject,
  type ResponseOutcome,
  type ResponseRequest,
  type ResponseStream,
  storedText,
  StreamedResponse,
  TranslatedResponse,
} from '@baton/responses';
import { asciiJson } from '@baton/text';
import { Injectable } from '@nestjs/common';
import type { Answer, SequenceEnd } from '../../request/answer/answer';
import { type Keeper, StoredAnswer } from '../../request/answer/stored';
import { HttpEvents, StreamAnswer } from '../../request/answer/stream';
import { Executions } from '../../request/executed/executions';
import type { AnswerParts } from '../../request/take/call';
import { ApiIdentity, Log } from '../../tokens';
import { ConversationStore } from '../conversations/conversation-store';
import type { Tenant } from '../../http/request-context';
import { nowSeconds, outcomeOf, wholeResponse } from './response-readers';
import { Broadcasts } from './broadcasts';
import { DetachedResponse } from '../../http/detached-response';
import { GradualAnswer } from './gradual-answer';
import { ListenedEvents, type Listener } from './listened-events';
import { ResponseStore } from './response-store';
import { ResponseViews } from './response-views';
import { TranslatedAnswer } from './translated-answer';

/** A response under way. */
export interface ResponseParts {
  readonly id: string;
  readonly owner: Tenant;
  readonly request: ResponseRequest;
  /** Items of the earlier turns that it continues, as a JSON list. */
  readonly context: string;
  /** The items of the request itself, as a JSON list. */
  readonly input: string;
  readonly reasoningEvents?: ReasoningEvents | undefined;
  /** Takes the events; unset when the HTTP response of the request takes them. */
  readonly listener?: Listener | undefined;
  /** Keeps the response for its own connection, stored or not. */
  readonly remember?: ((written: WrittenResponse) => void) | undefined;
}

/** A stored response. */
export interface WrittenResponse {
  readonly id: string;
  readonly status: ResponseObject['status'];
  readonly text: string;
}

/**
 * Makes the answers of responses: streamed or in one piece, stored or not, in the foreground or
 * background.
 */
@Injectable()
export class ResponseAnswers {
  constructor(
    private readonly logger: Log,
    private readonly identity: ApiIdentity,
    private readonly store: ResponseStore,
    private readonly conversations: ConversationStore,
    private readonly broadcasts: Broadcasts,
    private readonly views: ResponseViews,
    private readonly executions: Executions,
  ) {}

  make(parts: ResponseParts, answering: AnswerParts): Answer {
    if (this.executions.answers) return this.translated(parts, answering);
    const { request, reasoningEvents } = parts;
    const options = { ...answering.options, reasoningEvents };
    const outcome = outcomeOf(request, { ...answering, options });
    const answer = this.shown(parts, outcome, answering);
    return this.stored(answer, parts, outcome);
  }

  /** The answer of an upstream server. */
  private translated(parts: ResponseParts, { http, head, plans }: AnswerParts): Answer {
    const { request, reasoningEvents } = parts;
    const response = new TranslatedResponse({ request, head, reasoningEvents }, nowSeconds);
    const isDetached = http.response instanceof DetachedResponse;
    const inOnePiece = !isDetached && !request.generation.stream;
    const answer = inOnePiece
      ? wholeResponse(response, { http, plans })
      : this.streamed(parts, response, http);
    const kept = this.stored(answer, parts, response);
    return new TranslatedAnswer(kept, { response, opensEarly: isDetached });
  }

  private stored(answer: Answer, parts: ResponseParts, outcome: ResponseForms): Answer {
    if (!isKept(parts)) return answer;
    return new StoredAnswer(answer, this.keeper(parts, outcome), this.logger);
  }

  private shown(
    parts: ResponseParts,
    outcome: ResponseOutcome,
    { http, plans }: AnswerParts,
  ): Answer {
    const isDetached = http.response instanceof DetachedResponse;
    if (!isDetached && !parts.request.generation.stream)
      return wholeResponse(outcome, { http, plans });
    const rendered = new StreamedResponse(outcome);
    return new GradualAnswer(this.streamed(parts, rendered, http), rendered, this.logger);
  }

  private streamed(
    { id, request, listener }: ResponseParts,
    rendered: ResponseStream,
    http: AnswerParts['http'],
  ): StreamAnswer {
    if (!(http.response instanceof DetachedResponse)) {
      return new StreamAnswer(new HttpEvents(http), rendered);
    }
    const isQueued = isBackground(request);
    const hearer = isQueued ? this.broadcasts.open(id, listener) : listener;
    assert(hearer, 'an answer without an HTTP response has a listener');
    const queued = isQueued ? rendered : undefined;
    const events = new ListenedEvents({ listener: hearer, stub: http.response, queued });
    return new StreamAnswer(events, rendered);
  }

  /** Keeps the body that a thread has written. Does not reject. */
  async keepBody(
    parts: ResponseParts,
    body: Uint8Array,
    [end]: readonly SequenceEnd[],
  ): Promise<void> {
    if (!isKept(parts)) return;
    // The body is ASCII.
    const response = Buffer.from(body.buffer).toString('latin1');
    const status = end?.reason === 'length' ? 'incomplete' : 'completed';
    await this.storeAll(parts, { id: parts.id, status, response }, []);
  }

  /** A background response as stored before anything is generated. */
  queued(parts: ResponseParts, created: number): { readonly body: string; readonly text: string } {
    const { id, request } = parts;
    const head = { id, created, model: request.generation.model };
    const body = asciiJson(queuedResponse({ request, head }));
    return { body, text: this.textOf(parts, body, []) };
  }

  private keeper(parts: ResponseParts, outcome: ResponseForms): Keeper {
    const storeEnd = (response: ResponseObject): Promise<void> => {
      const { id, status } = response;
      const written = { id, status, response: outcome.written(response) };
      return this.storeAll(parts, written, outcome.deltas);
    };
    return {
      storeStart: () => this.storeStart(parts, outcome),
      storeEnd: ([end], { cachedTokens }) => {
        assert(end, 'a response has one sequence');
        const { reason, span } = end;
        const count = span.from + span.count;
        return storeEnd(outcome.endResponse({ reason, count, cachedTokens }));
      },
      storeFailure: (error) => storeEnd(outcome.failed(error)),
    };
  }

  private textOf(
    { request, context, input }: ResponseParts,
    response: string,
    deltas: ResponseForms['deltas'],
  ): string {
    const apiId = isBackground(request) ? this.identity.apiId : undefined;
    return storedText({ apiId, response, context, input, deltas });
  }

  private async storeStart(parts: ResponseParts, outcome: ResponseForms): Promise<void> {
    const { id, owner, request } = parts;
    if (!isBackground(request)) return;
    await this.tryToStore(id, () => {
      const text = this.textOf(parts, JSON.stringify(outcome.started()), []);
      return this.store.updateText({ owner, id }, (now) =>
        headOf(now).status === 'queued' ? text : undefined,
      );
    });
  }

  private storeAll(
    parts: ResponseParts,
    { id, status, response }: Omit<WrittenResponse, 'text'> & { readonly response: string },
    deltas: ResponseForms['deltas'],
  ): Promise<void> {
    return this.tryToStore(id, async () => {
      const written = { id, status, text: this.textOf(parts, response, deltas) };
      parts.remember?.(written);
      await this.storeResponse(parts, written);
      await this.append(parts, status, response);
    });
  }

  private async storeResponse(
    { owner, request }: ResponseParts,
    written: WrittenResponse,
  ): Promise<void> {
    const { id, status, text } = written;
    if (!request.isStored) return;
    if (isBackground(request)) {
      await this.storeBackground(owner, written);
      return;
    }
    // No client has seen a failed response that was not streamed.
    if (status === 'failed' && !request.generation.stream) return;
    const isStored = await this.store.addText({ owner, id }, text);
    if (!isStored) this.logger.warn({ response: id }, 'response too large to store');
  }

  /**
   * A background response is in the store already: a cancelled one stays cancelled, a deleted one
   * stays deleted. If its end cannot be stored, it is stored as failed; otherwise it would stay
   * under way forever.
   */
  private async storeBackground(
    owner: Tenant,
    { id, status, text }: WrittenResponse,
  ): Promise<void> {
    try {
      await this.store.updateText({ owner, id }, (now) => {
        const head = headOf(now);
        const isSame = head.status === 'cancelled' && status === 'cancelled';
        return head.isOver && !isSame ? undefined : text;
      });
    } catch (error) {
      const reason = error instanceof BatonError ? error.message : '';
      await this.store.fail({ owner, id }, `The response cannot be stored. ${reason}`.trim());
      throw error;
    }
  }

  /** Appends the new items to the conversation, unless the response failed. */
  private async append(
    { owner, input, request: { conversationId } }: ResponseParts,
    status: WrittenResponse['status'],
    response: string,
  ): Promise<void> {
    if (conversationId === undefined || (status !== 'completed' && status !== 'incomplete')) return;
    const alone = { apiId: undefined, response, context: '[]', input: '[]', deltas: [] };
    const output = await this.views.show(storedText(alone), { kind: 'output' });
    await this.conversations.append({ owner, id: conversationId }, input, output);
  }

  private async tryToStore(id: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.logger.warn({ response: id, err: error }, 'storing a response failed');
    }
  }
}

function isKept({ request, remember }: ResponseParts): boolean {
  return request.isStored || request.conversationId !== undefined || remember !== undefined;
}

export function isBackground({ dto }: ResponseRequest): boolean {
  return dto.background === true;
}
