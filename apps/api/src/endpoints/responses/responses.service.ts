import { BatonError } from '@baton/contract';
import { headOf, inputTokensBody, newId, startingAfter, withStatus } from '@baton/responses';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { tooLarge } from '../../cluster/document-collection';
import { nameSkippedTools } from '../../http/skipped-tools-header';
import type { Owned } from '../../http/access/tenant';
import { DetachedResponse } from '../../http/detached-response';
import {
  type CheckedRequest,
  alreadyChecked,
  type Call,
  type Received,
} from '../../request/take/call';
import type { AnswerExtra } from '../../request/threads/body-answers';
import { type StoreBody, RequestThreads } from '../../request/threads/request-threads';
import { RequestWay } from '../../request/way';
import { Log } from '../../tokens';
import { Executions } from '../../request/executed/executions';
import { Broadcasts } from './broadcasts';
import { Cancellations } from './cancellations';
import { isBackground, ResponseAnswers, type ResponseParts } from './response-answers';
import { type ReadResponse, ResponseReader } from './response-reader';
import { ResponseStore } from './response-store';
import { ResponseViews } from './response-views';
import type { StreamListener } from './stream-listener';

/** The endpoint of upstream servers that computes responses. */
const CHATS = '/v1/chat/completions';

type Query = Readonly<Record<string, unknown>>;

/** The steps of a response: read the request, load what it continues, generate, store. */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly logger: Log,
    private readonly generation: RequestWay,
    private readonly threads: RequestThreads,
    private readonly reader: ResponseReader,
    private readonly store: ResponseStore,
    private readonly views: ResponseViews,
    private readonly answers: ResponseAnswers,
    private readonly broadcasts: Broadcasts,
    private readonly cancellations: Cancellations,
    private readonly executions: Executions,
  ) {}

  async create(received: Received): Promise<void> {
    const read = await this.reader.read('response', received);
    this.nameSkipped(read.parts, received.reply);
    if (isBackground(read.parts.request)) await this.inBackground(read, received.reply);
    else await this.generation.answer(this.callFor(read));
  }

  /** The call that the cluster serves for a response. */
  callFor({ parts, call, threaded, reading: { upstream: text } }: ReadResponse): Call {
    const checked = {
      request: parts.request.generation,
      answerId: () => parts.id,
      answer: this.answers.make.bind(this.answers, parts),
      isExecuted: this.executions.answers,
      upstream: text === undefined ? undefined : { path: CHATS, text },
      threaded: this.executions.answers ? undefined : threaded,
    };
    return { ...call, reader: alreadyChecked(this.inPieces(checked, parts, call), call.reader) };
  }

  /** A summary of a conversation, written by the model. */
  async compact(received: Received): Promise<void> {
    this.executions.needSimulation();
    const { reading, threaded, call, limits } = await this.reader.read('compaction', received);
    const id = newId('resp');
    const checked = { ...call.reader.check(reading, limits), answerId: () => id };
    const answered =
      threaded === undefined
        ? checked
        : this.threads.withThreadedAnswer(checked, { threaded, call });
    await this.generation.answer({ ...call, reader: alreadyChecked(answered, call.reader) });
  }

  /** The body of `input_tokens`. */
  async countTokens(received: Received): Promise<string> {
    this.executions.needSimulation();
    const { parts } = await this.reader.read('response', received);
    return inputTokensBody(parts.request);
  }

  /** A view of a stored response. Throws `response_not_found`. */
  async show(at: Owned, view: AnswerExtra<'stored-response'>): Promise<string> {
    return this.views.show(await this.store.needText(at), view);
  }

  async remove(at: Owned): Promise<void> {
    await this.store.drop(at);
    this.cancellations.cancel(at.id);
  }

  /** Ends a background response; a finished one stays as it is. */
  async cancel(at: Owned): Promise<string> {
    const text = await this.store.changeText(at, (stored) => {
      const { isBackground: isLate, isOver } = headOf(stored);
      if (!isLate) throw new BatonError('invalid_value', 'Cannot cancel a synchronous response.');
      return isOver ? undefined : withStatus(stored, 'cancelled');
    });
    this.cancellations.cancel(at.id);
    return this.views.show(text, { kind: 'object' });
  }

  /** Streams a stored response again; one under way continues as it grows. */
  async replay(at: Owned, query: Query, reply: FastifyReply): Promise<void> {
    const after = startingAfter(query);
    const found = await this.store.needText(at);
    if (!headOf(found).isOver) {
      await this.broadcasts.follow(at, this.broadcasts.listenerAt(reply), after);
      return;
    }
    const events = await this.views.events(found, after);
    const listener = this.broadcasts.listenerAt(reply);
    listener.takeEvents(events);
    listener.endStream();
  }

  /** A body that a thread has read is answered in one piece; other answers do not change. */
  private inPieces(checked: CheckedRequest, parts: ResponseParts, call: Call): CheckedRequest {
    const { threaded } = checked;
    if (threaded === undefined || isBackground(parts.request)) return checked;
    const store: StoreBody = (body, ends) => this.answers.keepBody(parts, body, ends);
    return this.threads.withThreadedAnswer(checked, { threaded, call, store });
  }

  private nameSkipped({ id, request }: ResponseParts, reply: FastifyReply): void {
    const tools = [...new Set(request.skippedTools)];
    if (tools.length === 0) return;
    this.logger.info({ response: id, tools }, 'a response leaves out tools that only OpenAI runs');
    // The header is set on Node's own response, because the framework does not send every answer.
    nameSkippedTools(reply.raw, tools);
  }

  /** Answers immediately; the output goes into the store. */
  private async inBackground(read: ReadResponse, reply: FastifyReply): Promise<void> {
    const { parts } = read;
    const { stream } = parts.request.generation;
    let listener: StreamListener | undefined;
    const takeOver = (): void => {
      listener = stream ? this.broadcasts.listenerAt(reply) : undefined;
    };
    const heard = { ...parts, listener: stream ? lateListener(() => listener) : undefined };
    const call = this.callFor({ ...read, parts: heard });
    const queued = this.answers.queued(parts, Math.floor(call.arrivalUs / 1_000_000));
    if (!(await this.store.begin(parts, queued.text))) throw tooLarge();
    try {
      await this.generation.answer({ ...call, response: new DetachedResponse(), takeOver });
    } catch (error) {
      await this.store.remove(parts);
      throw error;
    }
    if (!stream) void reply.code(200).type('application/json').send(queued.body);
  }
}

/** Takes over the client's connection only once the request can no longer be refused. */
function lateListener(listener: () => StreamListener | undefined) {
  return {
    isOverfull: false,
    takeEvents: (events: string) => listener()?.takeEvents(events),
    endStream: () => listener()?.endStream(),
  };
}
