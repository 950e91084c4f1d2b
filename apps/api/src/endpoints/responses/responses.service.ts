import { randomBytes } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { assert } from '@baton/kernel';
import {
  asCompaction,
  inputTokensBody,
  parseResponse,
  readResponse,
  renderCompaction,
  replayEvents,
  type ResponseObject,
  type ResponseRequest,
  startingAfter,
} from '@baton/responses';
import type { Logger } from '@baton/telemetry';
import { asciiJson } from '@baton/text';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ModelCatalog } from '../../cluster/model-catalog';
import type { Answer } from '../../request/answer/answer';
import { WholeAnswer } from '../../request/answer/whole';
import {
  type AnswerParts,
  askedAlready,
  type Call,
  callOf,
  type Received,
} from '../../request/take/call';
import { RequestWay } from '../../request/way';
import { CONFIG, LOGGER } from '../../tokens';
import { type Owned, tenantOf } from '../../http/access/tenant';
import type { Tenant } from '../../http/request-context';
import { Broadcasts } from './broadcasts';
import { Cancellations } from './cancellations';
import { DetachedResponse } from '../../http/detached-response';
import { tooLarge } from '../../cluster/document-collection';
import { isBackground, ResponseAnswers, type ResponseParts } from './response-answers';
import { type Remembered, type Rememberer, ResponseMemory } from './response-memory';
import { isResponseOver, ResponseStore, type StoredResponse } from './response-store';
import { StreamListener } from './stream-listener';

type Query = Readonly<Record<string, unknown>>;

const SKIPPED_TOOLS = 'x-baton-skipped-tools';
const MAX_HEADER_LENGTH = 1_000;

/** The way of a response: read the request, load what it continues, generate, store. */
@Injectable()
export class ResponsesService {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly generation: RequestWay,
    private readonly catalog: ModelCatalog,
    private readonly store: ResponseStore,
    private readonly memory: ResponseMemory,
    private readonly answers: ResponseAnswers,
    private readonly broadcasts: Broadcasts,
    private readonly cancellations: Cancellations,
  ) {}

  async create(received: Received): Promise<void> {
    const parts = await this.read(received.body, { owner: tenantOf(received.request) });
    this.nameSkipped(parts, received.reply);
    if (isBackground(parts.request)) await this.inBackground(parts, received);
    else await this.generation.answer(this.callFor(parts, received));
  }

  /** A checked request with all items that it continues. */
  async read(body: unknown, whose: Rememberer): Promise<ResponseParts> {
    const remembered = await this.memory.load(readResponse(body, newId), whose);
    const request = this.parse(remembered, whose.owner);
    const { context } = remembered;
    const { reasoningEvents } = this.config;
    return { id: newId('resp'), owner: whose.owner, request, context, reasoningEvents };
  }

  /** The work of the cluster for a response. */
  callFor(parts: ResponseParts, received: Received): Call {
    const asked = {
      request: parts.request.generation,
      answerId: () => parts.id,
      answer: this.answers.make.bind(this.answers, parts),
    };
    return callOf(askedAlready(asked), received);
  }

  /** A conversation in short, written by the model. */
  async compact(received: Received): Promise<void> {
    const owner = tenantOf(received.request);
    const draft = asCompaction(readResponse(received.body, newId));
    const remembered = await this.memory.load(draft, { owner });
    const request = this.parse(remembered, owner);
    const answer = ({ http, head, plans, options }: AnswerParts): Answer =>
      new WholeAnswer(http, plans, ([result], { cachedTokens }) => {
        assert(result, 'the sequence has ended');
        const { plan } = result;
        return renderCompaction({ request, head, plan, options }, { ...result, cachedTokens });
      });
    const id = newId('resp');
    const asked = { request: request.generation, answerId: () => id, answer };
    await this.generation.answer(callOf(askedAlready(asked), received));
  }

  /** The body of `input_tokens`. */
  async countTokens(owner: Tenant, body: unknown): Promise<string> {
    const draft = readResponse(body, newId);
    return inputTokensBody(this.parse(await this.memory.load(draft, { owner }), owner));
  }

  /** Throws `response_not_found`. */
  async find(at: Owned): Promise<StoredResponse> {
    const found = await this.store.find(at);
    if (found === undefined) throw notFound(at);
    return found;
  }

  async remove(at: Owned): Promise<void> {
    if (!(await this.store.remove(at))) throw notFound(at);
    this.cancellations.cancel(at.id);
  }

  /** Ends a background response; a finished one stays as it is. */
  async cancel(at: Owned): Promise<ResponseObject> {
    const found = await this.store.update(at, (stored) => {
      const { response } = stored;
      if (!response.background) {
        throw new BatonError('invalid_value', 'Cannot cancel a synchronous response.');
      }
      if (isResponseOver(stored)) return undefined;
      return { ...stored, response: { ...response, status: 'cancelled' } };
    });
    if (found === undefined) throw notFound(at);
    this.cancellations.cancel(at.id);
    return found.response;
  }

  /** Streams a stored response again; one under way is streamed on as it grows. */
  async replay(at: Owned, query: Query, reply: FastifyReply): Promise<void> {
    const after = startingAfter(query);
    const found = await this.find(at);
    const reasoning = this.config.reasoningEvents;
    const listener = new StreamListener(reply);
    if (isResponseOver(found)) {
      listener.hear(replayEvents(found.response, found.deltas, { after, reasoning }));
      listener.end();
    } else {
      await this.broadcasts.follow(at, listener, { after, reasoning });
    }
  }

  private parse({ draft, context }: Remembered, owner: Tenant): ResponseRequest {
    const { unsupportedTools, refusalProbability } = this.config;
    const limits = { ...this.catalog.limitsOf(owner), unsupportedTools, refusalProbability };
    return parseResponse(draft, context, limits);
  }

  private nameSkipped({ id, request }: ResponseParts, reply: FastifyReply): void {
    const tools = [...new Set(request.skippedTools)];
    if (tools.length === 0) return;
    this.logger.info({ response: id, tools }, 'tools left out of a response');
    const names = tools.join(', ').replace(/[^\x20-\x7e]/g, '?');
    // The header is set on Node's own response, because the framework may not send it.
    reply.raw.setHeader(SKIPPED_TOOLS, names.slice(0, MAX_HEADER_LENGTH));
  }

  /** Answers at once; the output goes into the store. */
  private async inBackground(parts: ResponseParts, received: Received): Promise<void> {
    const { request } = parts;
    const { stream } = request.generation;
    const { reply } = received;
    let listener: StreamListener | undefined;
    const takeOver = (): void => {
      listener = stream ? new StreamListener(reply) : undefined;
    };
    const heard = { ...parts, listener: stream ? lateListener(() => listener) : undefined };
    const call = this.callFor(heard, received);
    const stored = this.answers.queued(parts, Math.floor(call.arrivalUs / 1_000_000));
    if (!(await this.store.add(parts, stored))) throw tooLarge();
    try {
      await this.generation.answer({ ...call, response: new DetachedResponse(), takeOver });
    } catch (error) {
      await this.store.remove(parts);
      throw error;
    }
    if (!stream) void reply.code(200).type('application/json').send(asciiJson(stored.response));
  }
}

/** The client's connection is taken over only when no refusal is possible any more. */
function lateListener(listener: () => StreamListener | undefined) {
  return {
    isOverfull: false,
    hear: (events: string) => listener()?.hear(events),
    end: () => listener()?.end(),
  };
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}

function notFound({ id }: Owned): BatonError {
  return new BatonError('response_not_found', `Response with id '${id.slice(0, 200)}' not found.`);
}
