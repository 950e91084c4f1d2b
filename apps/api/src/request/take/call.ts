import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutedRequest } from '@baton/contract';
import {
  answerId,
  type AnswerHead,
  type AnswerOptions,
  type Endpoint,
  type GenerationRequest,
  parseChat,
  parseChatBatch,
  parseCompletion,
  renderFinal,
  type RequestLimits,
  StreamedAnswer,
} from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpAnswer } from '../../http/http-answer';
import { contextOf, type Tenant } from '../../http/request-context';
import type { Answer } from '../answer/answer';
import { HttpEvents, StreamAnswer } from '../answer/stream';
import { WholeAnswer } from '../answer/whole';

/** One HTTP request for work of the engines, as its controller passes it on. */
export interface Call {
  readonly reader: EndpointReader;
  readonly body: unknown;
  /** The incoming message: path and headers. */
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Arrival of its headers, µs since the Unix epoch. */
  readonly arrivalUs: number;
  /** The value of `x-request-id` in the answer. */
  readonly requestId: string;
  /** The client's own `X-Request-Id`. */
  readonly clientRequestId: string | undefined;
  /** The engine at whose port the request came in; undefined at the cluster's port. */
  readonly engineId: string | undefined;
  readonly tenant: Tenant;
  /** Takes the response over from the framework: from now on the exchange answers. */
  readonly takeOver: () => void;
}

/** A call whose body may have no reader yet. */
export type UnreadCall = Omit<Call, 'reader'>;

export interface Received {
  readonly body: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A call as the framework delivered it. */
export function makeCall(reader: EndpointReader, received: Received): Call {
  return { reader, ...unreadCall(received) };
}

export function unreadCall({ body, request, reply }: Received): UnreadCall {
  return {
    body,
    message: request.raw,
    response: reply.raw,
    takeOver: () => void reply.hijack(),
    ...contextOf(request.raw),
  };
}

/** The inputs of an answer, once its jobs are about to be submitted. */
export interface AnswerParts {
  readonly http: HttpAnswer;
  readonly head: AnswerHead;
  /** One plan per sequence. */
  readonly plans: readonly OutputPlan[];
  readonly options: AnswerOptions;
}

/** The content of a body. Plain data, except for the texts of its constraints and `local`. */
export interface Reading {
  readonly request: GenerationRequest;
  /** Data that stays in the thread that read the body. */
  readonly local?: unknown;
}

/**
 * A body for a thread. The thread keeps nothing for long, so it may read the body several times.
 */
export interface ThreadSource {
  /** Names the request among those of this process. */
  readonly ticket: number;
  readonly reader: string;
  /** The parsed body, or its bytes in shared memory. */
  readonly body: unknown;
  readonly models: readonly string[];
  readonly kvCapacityTokens: number | undefined;
  /** `EndpointReader.extra`. */
  readonly extra: unknown;
}

/** The path and the JSON body of a request for an upstream server. */
export type UpstreamRequest = Pick<ExecutedRequest, 'path' | 'text'>;

/** A checked call: the cluster's work for it, and the form of its answer. */
export interface CheckedRequest {
  readonly request: GenerationRequest;
  readonly answerId: (requestId: string) => string;
  /** True when the prompts are only computed: no tokens, no hand-over. */
  readonly isPooling?: boolean;
  /** True when an upstream server answers, so that nothing is planned. */
  readonly isExecuted?: boolean;
  /** The request for upstream servers. Default: the client's own. */
  readonly upstream?: UpstreamRequest | undefined;
  /**
   * Set when a thread has read the body; a thread then also plans it. Undefined when the event loop
   * does both.
   */
  readonly threaded?: ThreadSource | undefined;
  readonly answer: (parts: AnswerParts) => Answer;
  /** Writes the stored document in one piece; undefined when nothing is stored. */
  readonly document?: (parts: AnswerParts) => Answer;
}

/** Reads one kind of request for work of the engines. */
export interface EndpointReader<Read extends Reading = Reading> {
  /** Name of the reader in a thread; undefined when bodies are read on the event loop. */
  readonly name?: string;
  /** Additional input of the reader beside the body, as data. */
  readonly extra?: unknown;
  /** True when `extra` is long, so that a thread reads it. */
  readonly isHeavy?: boolean;
  /** Set when the body has already been read. */
  readonly already?: CheckedRequest;
  /** Stores the document of an answer before its last bytes are sent. Does not reject. */
  readonly store?: (id: string, document: () => Promise<string>) => Promise<void>;
  /** Checks a body before anything is queued. Throws `BatonError` for the first fault. */
  read(body: unknown, limits: RequestLimits, extra?: unknown): Read;
  check(read: Read, limits: RequestLimits): CheckedRequest;
}

/** The two readers of text requests in OpenAI's shapes. */
export const TEXT_ENDPOINTS: Readonly<Record<Endpoint, EndpointReader>> = {
  chat: textReader('chat', parseChat),
  completions: textReader('completions', parseCompletion),
};

/** Several conversations in one chat. */
export const chatBatchReader = textReader('chat-batch', parseChatBatch);

/** A reader whose body has been read already. A thread reads it again for its tasks. */
export function alreadyChecked(checked: CheckedRequest, reader: EndpointReader): EndpointReader {
  return { ...reader, already: checked, read: () => checked, check: () => checked };
}

function textReader(
  name: string,
  parse: (body: unknown, limits: RequestLimits) => GenerationRequest,
): EndpointReader {
  return { name, read: (body, limits) => ({ request: parse(body, limits) }), check: checkText };
}

function checkText({ request }: Reading): CheckedRequest {
  const answer = ({ http, head, plans, options }: AnswerParts): Answer => {
    if (request.stream) {
      const rendered = new StreamedAnswer(request, head, [...plans], options);
      return new StreamAnswer(new HttpEvents(http), rendered);
    }
    return new WholeAnswer(http, plans, (results, facts) =>
      renderFinal({ request, head, options }, results, facts),
    );
  };
  return { request, answerId: (id) => answerId(request.endpoint, id), answer };
}
