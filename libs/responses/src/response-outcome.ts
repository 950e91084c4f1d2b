import type { BatonError } from '@baton/contract';
import type { ResponseContext } from './response-context';
import { responseFailure } from './response-error';
import {
  endState,
  failedState,
  type ResponseEnd,
  type ResponseObject,
  responseObject,
  STARTED,
} from './response-object';

/** Length of a JSON-escaped text in UTF-16 units. */
function lengthOf(escaped: string): number {
  return escaped.includes('\\') ? (JSON.parse(`"${escaped}"`) as string).length : escaped.length;
}

/**
 * The outcome of a response: one object for the client and the store. It also keeps how the texts
 * were cut into deltas, so that the stream can be sent again.
 */
export class ResponseOutcome {
  private readonly deltaLengths: number[][] = [];
  private result: ResponseObject | undefined;
  private received = 0;

  constructor(
    readonly context: ResponseContext,
    private readonly nowSeconds: () => number,
  ) {}

  started(): ResponseObject {
    return responseObject(this.context.request, this.context.head, STARTED);
  }

  ended(end: ResponseEnd): ResponseObject {
    const { request, head } = this.context;
    this.result ??= responseObject(request, head, endState(this.context, end, this.nowSeconds()));
    return this.result;
  }

  queued(): ResponseObject {
    return queuedResponse(this.context);
  }

  /** Keeps what there was by then. */
  failed(error: BatonError): ResponseObject {
    const { request, head } = this.context;
    const state = failedState(this.context, this.received, responseFailure(error));
    this.result ??= responseObject(request, head, state);
    return this.result;
  }

  /** Tokens received so far. */
  noteTokens(count: number): void {
    this.received = count;
  }

  /** @param text JSON-escaped */
  noteDelta(item: number, text: string): void {
    (this.deltaLengths[item] ??= []).push(lengthOf(text));
  }

  /** Per item of the output the lengths of its deltas; empty when nothing was streamed. */
  get deltas(): readonly (readonly number[])[] {
    return this.deltaLengths;
  }
}

/** A response of which no more than its id is known. */
export type ResponseHead = Pick<ResponseContext, 'request'> & {
  readonly head: Pick<ResponseContext['head'], 'id' | 'created' | 'model'>;
};

export function queuedResponse({ request, head }: ResponseHead): ResponseObject {
  return responseObject(request, head, { ...STARTED, status: 'queued' });
}
