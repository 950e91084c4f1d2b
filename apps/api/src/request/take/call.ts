import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contextOf } from '../../http/request-context';
import type { Ask } from './asked';

/** One HTTP request for work of the engines, as its controller hands it on. */
export interface Call {
  readonly ask: Ask;
  readonly body: unknown;
  /** What came in: path and headers. */
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** When its headers arrived, µs since the Unix epoch. */
  readonly arrivalUs: number;
  /** What `x-request-id` answers. */
  readonly requestId: string;
  /** The client's own `X-Request-Id`. */
  readonly clientRequestId: string | undefined;
  /** The engine whose port it came in at; undefined at the cluster's own. */
  readonly engineId: string | undefined;
  /** Whose key it showed; undefined: nobody's. */
  readonly caller: string | undefined;
  /** Takes the response away from the framework: from now on the exchange answers. */
  readonly takeOver: () => void;
}

export interface Received {
  readonly body: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A call as the framework delivered it. */
export function callOf(ask: Ask, { body, request, reply }: Received): Call {
  return {
    ...contextOf(request.raw),
    ask,
    body,
    message: request.raw,
    response: reply.raw,
    takeOver: () => void reply.hijack(),
  };
}
