import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import {
  inputTokensBody,
  parseResponse,
  queuedResponse,
  readResponse,
  replayEvents,
  type ResponseDraft,
  type ResponseItem,
  type ResponseObject,
  type ResponseRequest,
} from '@baton/openai';
import type { BatonConfig, Logger } from '@baton/runtime';
import { asciiJson } from '@baton/text';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../cluster/model-catalog';
import { type Call, callOf, type Received } from '../generation/call';
import { GenerationService } from '../generation/generation.service';
import { HttpAnswer } from '../http/http-answer';
import { CONFIG, LOGGER } from '../tokens';
import { Cancellations } from './cancellations';
import { tooLarge } from './document-collection';
import { isBackground, nowSeconds, ResponseAnswers, type ResponseParts } from './response-answers';
import { isOver, ResponseStore, type StoredResponse } from './response-store';

/** How often a response that is under way is looked at again for a client that waits for its end. */
const LOOK_EVERY_MS = 100;
const SKIPPED_TOOLS = 'x-baton-skipped-tools';
const MAX_HEADER_LENGTH = 1_000;

/** The way of a response: read the request, load what it goes on with, generate, store. */
@Injectable()
export class ResponsesService {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly generation: GenerationService,
    private readonly catalog: ModelCatalog,
    private readonly store: ResponseStore,
    private readonly answers: ResponseAnswers,
    private readonly cancellations: Cancellations,
  ) {}

  async create(received: Received): Promise<void> {
    const draft = readResponse(received.body, newId);
    const context = await this.contextOf(draft);
    const request = this.parse(draft, context);
    const parts = { id: newId('resp'), request, context };
    this.nameSkipped(parts, received);
    if (isBackground(request)) await this.inBackground(parts, received);
    else await this.generation.answer(this.callFor(parts, received));
  }

  /** The body of `input_tokens`. */
  async countTokens(body: unknown): Promise<string> {
    const draft = readResponse(body, newId);
    return inputTokensBody(this.parse(draft, await this.contextOf(draft)));
  }

  /** Throws `response_not_found`. */
  async find(id: string): Promise<StoredResponse> {
    const found = await this.store.find(id);
    if (found === undefined) throw notFound(id);
    return found;
  }

  async remove(id: string): Promise<void> {
    if (!(await this.store.remove(id))) throw notFound(id);
    this.cancellations.cancel(id);
  }

  /** Ends a response that runs in the background; one that is over stays as it is. */
  async cancel(id: string): Promise<ResponseObject> {
    const found = await this.store.update(id, (stored) => {
      const { response } = stored;
      if (!response.background) {
        throw new BatonError('invalid_value', 'Cannot cancel a synchronous response.');
      }
      if (isOver(stored)) return undefined;
      return { ...stored, response: { ...response, status: 'cancelled' } };
    });
    if (found === undefined) throw notFound(id);
    this.cancellations.cancel(id);
    return found.response;
  }

  /** A stored response as the events of its stream; of one that is under way, when it is over. */
  async replay(
    id: string,
    query: Readonly<Record<string, unknown>>,
    client: { readonly destroyed: boolean },
  ): Promise<string> {
    let found = await this.find(id);
    while (!isOver(found) && !client.destroyed) {
      await delay(LOOK_EVERY_MS);
      found = await this.find(id);
    }
    return replayEvents(found.response, found.deltas, query);
  }

  private parse(draft: ResponseDraft, context: readonly ResponseItem[]): ResponseRequest {
    const { unsupportedTools } = this.config;
    return parseResponse(draft, context, { ...this.catalog.limits, unsupportedTools });
  }

  private async contextOf({ previousResponseId: id }: ResponseDraft): Promise<ResponseItem[]> {
    if (id === undefined) return [];
    const found = await this.store.find(id);
    if (found !== undefined) return [...found.context, ...found.input, ...found.response.output];
    const message = `Previous response with id '${id.slice(0, 200)}' not found.`;
    throw new BatonError('previous_response_not_found', message, 'previous_response_id');
  }

  private nameSkipped({ id, request }: ResponseParts, { reply }: Received): void {
    const tools = [...new Set(request.skippedTools)];
    if (tools.length === 0) return;
    this.logger.info({ response: id, tools }, 'tools left out of a response');
    const names = tools.join(', ').replace(/[^\x20-\x7e]/g, '?');
    // On Node's own response, because the framework may not be the one who sends it.
    reply.raw.setHeader(SKIPPED_TOOLS, names.slice(0, MAX_HEADER_LENGTH));
  }

  private callFor(parts: ResponseParts, received: Received): Call {
    const asked = {
      request: parts.request.generation,
      answerId: () => parts.id,
      answer: this.answers.make.bind(this.answers, parts),
    };
    return callOf(() => asked, received);
  }

  /** Answers at once; what is generated is found in the store. */
  private async inBackground(parts: ResponseParts, received: Received): Promise<void> {
    const { id, request, context } = parts;
    const { model, stream } = request.generation;
    const response = queuedResponse({ request, head: { id, created: nowSeconds(), model } });
    const stored = { response, context, input: request.own, deltas: [] };
    if (!(await this.store.add(id, stored))) throw tooLarge();
    const { reply } = received;
    const listener = stream ? this.listenerAt(parts, received) : undefined;
    const call = this.callFor({ ...parts, listener }, received);
    const takeOver = (): void => (stream ? call.takeOver() : undefined);
    try {
      await this.generation.answer({ ...call, response: stubResponse(), takeOver });
    } catch (error) {
      await this.store.remove(id);
      throw error;
    }
    if (!stream) void reply.code(200).type('application/json').send(asciiJson(response));
  }

  private listenerAt(parts: ResponseParts, received: Received): HttpAnswer {
    const { response } = this.callFor(parts, received);
    const isClosing = (): boolean => this.generation.isClosing;
    return new HttpAnswer(response, { dialect: this.config.dialect, isClosing });
  }
}

/** Stands in for a client: nothing reaches anybody, and it never closes by itself. */
function stubResponse(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()));
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}

function notFound(id: string): BatonError {
  return new BatonError('response_not_found', `Response with id '${id.slice(0, 200)}' not found.`);
}
