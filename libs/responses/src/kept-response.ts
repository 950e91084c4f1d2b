import { asciiJson } from '@baton/text';
import type { RequestLimits } from '@baton/openai';
import type { Item } from './items';
import type { ResponseFailure } from './response-error';
import type { ReasoningEvents } from './response-events';
import type { ResponseObject, ResponseStatus } from './response-object';
import { itemsPage, replayEvents } from './stored-response';

/** A stored response: enough to show it, to replay its stream, and to continue it. */
export interface StoredResponse {
  /** The API process that generates it; only for a background response. */
  readonly apiId?: string | undefined;
  readonly response: ResponseObject;
  /** Items before the request, from earlier responses. */
  readonly context: readonly Item[];
  /** Items of the request itself. */
  readonly input: readonly Item[];
  /** The lengths of the streamed deltas, in UTF-16 units, per output item. */
  readonly deltas: readonly (readonly number[])[];
}

/** The parts of a stored response. Parts that can be long are JSON. */
export interface ResponseTexts {
  readonly apiId: string | undefined;
  readonly response: string;
  readonly context: string;
  readonly input: string;
  readonly deltas: readonly (readonly number[])[];
}

/**
 * A response as stored. Long parts are joined without parsing and the head comes first, so that the
 * time of this function and of `headOf` does not depend on their length.
 */
export function storedText({ apiId, response, context, input, deltas }: ResponseTexts): string {
  const maker = apiId === undefined ? '' : `"apiId":${JSON.stringify(apiId)},`;
  const parts = `"context":${context},"input":${input},"deltas":${JSON.stringify(deltas)}`;
  return `{${maker}"response":${response},${parts}}`;
}

/** Matches the head: keys in the order of `storedText` and of the Response object. */
const HEAD =
  /^\{(?:"apiId":"([^"]*)",)?"response":\{[^[\]{}]*?"status":"(\w+)","background":(true|false)/;
const OVER = new Set<string>(['completed', 'incomplete', 'failed', 'cancelled']);

/** The facts of a stored response that are read without parsing it. */
export interface StoredHead {
  readonly apiId: string | undefined;
  readonly status: ResponseStatus;
  readonly isOver: boolean;
  readonly isBackground: boolean;
}

export function headOf(stored: string): StoredHead {
  const [, apiId, status = 'completed', background] = HEAD.exec(stored) ?? [];
  return {
    apiId,
    status: status as ResponseStatus,
    isOver: OVER.has(status),
    isBackground: background === 'true',
  };
}

/** A stored response with another status. */
export function withStatus(stored: string, status: ResponseStatus): string {
  return stored.replace(HEAD, (head) => head.replace(/"status":"\w+"/, `"status":"${status}"`));
}

/** Marks a stored response under way as failed. Its long parts do not change. */
export function withFailure(stored: string, failure: ResponseFailure): string {
  // The first of this name: only the id, the model's time and the status come before it.
  return withStatus(stored, 'failed').replace(
    '"error":null',
    () => `"error":${asciiJson(failure)}`,
  );
}

/** The part of a stored response that a client requests. */
export type ResponseView =
  | { readonly kind: 'object' }
  /** The output of the response, as a JSON list. */
  | { readonly kind: 'output' }
  | { readonly kind: 'input'; readonly query: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'events';
      /** Number of the last event that the client has; -1: none. */
      readonly after: number;
      readonly reasoning: ReasoningEvents;
    };

/** A view of a parsed stored response. */
export function storedResponseBody(
  stored: unknown,
  _limits: RequestLimits,
  view: ResponseView,
): string {
  const { response, input, deltas } = stored as StoredResponse;
  switch (view.kind) {
    case 'object':
      return asciiJson(response);
    case 'output':
      return JSON.stringify(response.output);
    case 'input':
      return itemsPage(input, view.query);
    case 'events':
      return replayEvents(response, deltas, view);
  }
}
