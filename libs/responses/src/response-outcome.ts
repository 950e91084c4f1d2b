import type { BatonError } from '@baton/contract';
import { type RawJson, rawArray } from '@baton/text';
import { itemJson, jsonWith } from './item-json';
import { outputParts, type ResponseContext, logprobEntries } from './response-context';
import { responseFailure } from './response-error';
import {
  endState,
  failedState,
  type ResponseEnd,
  type ResponseObject,
  responseObject,
  STARTED,
} from './response-object';
import { ScoreLists } from './score-lists';

/** Length of the text before JSON escaping, in UTF-16 units. */
function lengthOf(escaped: string): number {
  return escaped.includes('\\') ? (JSON.parse(`"${escaped}"`) as string).length : escaped.length;
}

/**
 * The outcome of a response: one object for the client and the store. It also records the lengths
 * of the deltas, so that the stream can be replayed.
 */
export class ResponseOutcome {
  private readonly deltaLengths: number[][] = [];
  /** The log-probabilities of each output item's text. */
  readonly scores = new ScoreLists();
  private result: ResponseObject | undefined;
  private received = 0;

  constructor(
    readonly context: ResponseContext,
    private readonly nowSeconds: () => number,
  ) {}

  started(): ResponseObject {
    return responseObject(this.context.request, this.context.head, STARTED);
  }

  endResponse(end: ResponseEnd): ResponseObject {
    const { request, head } = this.context;
    // A stream has recorded its scores token by token.
    if (this.received === 0 && this.result === undefined) this.noteAllScores(end.count);
    this.result ??= responseObject(request, head, endState(this.context, end, this.nowSeconds()));
    return this.result;
  }

  queued(): ResponseObject {
    return queuedResponse(this.context);
  }

  /** The response after a failure, with the output so far. */
  failed(error: BatonError): ResponseObject {
    const { request, head } = this.context;
    const state = failedState(this.context, this.received, responseFailure(error));
    this.result ??= responseObject(request, head, state);
    return this.result;
  }

  /** One of these responses as ASCII JSON, with the log-probabilities. */
  written(response: ResponseObject): RawJson {
    return withScores(response, (item) => this.scores.listOf(item));
  }

  /** The same, with marks for long lists of log-probabilities. */
  marked(response: ResponseObject): RawJson {
    return withScores(response, (item) => this.scores.markedListOf(item));
  }

  /** Tokens received so far. */
  noteTokens(count: number): void {
    this.received = count;
  }

  /** @param text JSON-escaped */
  noteDelta(item: number, text: string): void {
    (this.deltaLengths[item] ??= []).push(lengthOf(text));
  }

  private noteAllScores(count: number): void {
    for (const [item, part] of outputParts(this.context).entries()) {
      const { from, to } = part.opening;
      const entries = logprobEntries(this.context, part, { from, to: Math.min(count, to) });
      this.scores.add(item, entries);
    }
  }

  /**
   * The lengths of the deltas per output item, in UTF-16 units. Empty when nothing was streamed.
   */
  get deltas(): readonly (readonly number[])[] {
    return this.deltaLengths;
  }
}

function withScores(response: ResponseObject, listOf: (item: number) => RawJson): RawJson {
  const items = response.output.map((item, index) => itemJson(item, listOf(index)));
  return jsonWith(response, { output: rawArray(items) });
}

/** The forms of a response under way that its answer and the store need. */
export type ResponseForms = Pick<
  ResponseOutcome,
  'started' | 'endResponse' | 'failed' | 'written' | 'deltas'
>;

/** A response with a known head and unknown content. */
export type ResponseHead = Pick<ResponseContext, 'request'> & {
  readonly head: Pick<ResponseContext['head'], 'id' | 'created' | 'model'>;
};

export function queuedResponse({ request, head }: ResponseHead): ResponseObject {
  return responseObject(request, head, { ...STARTED, status: 'queued' });
}
