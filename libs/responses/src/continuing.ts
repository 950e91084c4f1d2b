import { isObject } from '@baton/kernel';
import type { RequestLimits } from '@baton/openai';
import { followReferences, type Item } from './items';
import type { StoredResponse } from './kept-response';
import { type ResponseDraft, readResponse } from './parse-response';
import { messageBody } from './message-body';
import { responseIdOf } from './response-context';

/** Most earlier responses in which the references of one request are searched. */
const MAX_REFERENCED = 64;

/** The ids of what a request continues. */
export interface ResponseLinks {
  readonly previousResponseId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** Ids of the responses to which its references may point. */
  readonly referenced: readonly string[];
}

/** The stored texts of what a request continues. */
export interface LoadedTexts {
  readonly previous?: string | undefined;
  readonly conversation?: string | undefined;
  readonly referenced: readonly string[];
}

/** Characters of all texts. */
export function lengthOfLoaded({
  conversation = '',
  previous = '',
  referenced,
}: LoadedTexts): number {
  const others = referenced.reduce((sum, text) => sum + text.length, 0);
  return conversation.length + previous.length + others;
}

/** Links of a request that continues nothing. */
export const NO_LINKS: ResponseLinks = { referenced: [] };

/** False when the body certainly continues nothing. Its fields are not checked here. */
export function mayContinue(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { previous_response_id: previous, conversation, input } = body;
  return (previous ?? conversation ?? null) !== null || Array.isArray(input);
}

/** The links of a body, as JSON. Throws `BatonError` for an invalid body. */
export function responseLinksBody(
  body: unknown,
  limits: RequestLimits,
  { isMessage }: { readonly isMessage: boolean },
): string {
  return JSON.stringify(
    linksOf(readResponse(isMessage ? messageBody(body) : body, () => '', limits)),
  );
}

function linksOf({ previousResponseId, conversationId, own }: ResponseDraft): ResponseLinks {
  const wanted = own.filter(({ type }) => type === 'item_reference').map(({ id }) => id);
  const ids = new Set(wanted.map(responseIdOf));
  if (previousResponseId !== undefined) ids.delete(previousResponseId);
  const referenced = [...ids].filter((id) => id !== undefined).slice(0, MAX_REFERENCED);
  return { previousResponseId, conversationId, referenced };
}

/**
 * A request with the items that it continues, and with its references resolved. Throws for
 * references without a target.
 */
export function continued(
  draft: ResponseDraft,
  loaded: LoadedTexts,
): { readonly draft: ResponseDraft; readonly context: readonly Item[] } {
  const context = parseContext(loaded);
  const referenced = loaded.referenced.flatMap(
    (text) => (JSON.parse(text) as StoredResponse).response.output as readonly Item[],
  );
  const own = followReferences(draft.own, [...context, ...referenced]);
  return { draft: { ...draft, own }, context };
}

function parseContext({ previous, conversation }: LoadedTexts): readonly Item[] {
  if (conversation !== undefined) {
    return (JSON.parse(conversation) as { readonly items: readonly Item[] }).items;
  }
  if (previous === undefined) return [];
  const { context, input, response } = JSON.parse(previous) as StoredResponse;
  return [...context, ...input, ...response.output];
}
