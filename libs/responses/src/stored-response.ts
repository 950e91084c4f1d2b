import { asciiJson, escapeJson } from '@baton/text';
import { valueError } from '@baton/openai';
import type { Item } from './items';
import type { ResponseRequest } from './parse-response';
import { errorEvent } from './response-error';
import {
  isCallItem,
  type OutputItem,
  type ReasoningEvents,
  ResponseEvents,
  itemText,
} from './response-events';
import { type ResponseObject, STARTED } from './response-object';

type Query = Readonly<Record<string, unknown>>;

const MAX_PAGE = 100;
const USUAL_PAGE = 20;

/**
 * The stream of a finished response, replayed after the last event that the client has.
 *
 * @param deltas per output item the lengths of its deltas; without them each word is one delta
 */
export function replayEvents(
  response: ResponseObject,
  deltas: readonly (readonly number[])[],
  { after, reasoning }: ReplayOptions,
): string {
  const events = new ResponseEvents(reasoning);
  const started = { ...response, ...STARTED_FIELDS };
  let stream = response.background ? events.queued({ ...started, status: 'queued' }) : '';
  stream += events.begin(started);
  response.output.forEach((item, index) => {
    stream += events.added(emptied(item), index);
    for (const text of pieces(itemText(item), deltas[index])) {
      stream += events.delta(item, index, { text: escapeJson(text), logprobs: '[]' });
    }
    if (item['status'] !== 'in_progress') stream += events.done(item, index).join('');
  });
  const { error } = response;
  if (error !== null) stream += errorEvent(error, events.take());
  stream += events.endResponse(response.status, asciiJson(response));
  return stream
    .split('\n\n')
    .slice(after + 1)
    .join('\n\n');
}

export interface ReplayOptions {
  /** Number of the last event that the client has; -1: none. */
  readonly after: number;
  readonly reasoning: ReasoningEvents;
}

/** `starting_after` of a query. Throws `BatonError` when it is not a number. */
export function startingAfter(query: Query): number {
  return integerIn(query, 'starting_after') ?? -1;
}

/** `stream` of a query. Throws `BatonError` when it is neither `true` nor `false`. */
export function wantsStream({ stream }: Query): boolean {
  if (stream === undefined || stream === 'false') return false;
  if (stream === 'true') return true;
  throw valueError({ field: 'stream', message: 'stream must be true or false.' });
}

const STARTED_FIELDS = {
  status: STARTED.status,
  output: STARTED.output,
  completed_at: STARTED.completedAt,
  usage: STARTED.usage,
  error: STARTED.error,
  incomplete_details: null,
};

function emptied(item: OutputItem): OutputItem {
  const base = { ...item, status: 'in_progress' };
  if (item.type === 'function_call') return { ...base, arguments: '' };
  if (isCallItem(item)) return { ...base, input: '' };
  const parts = item['content'] as readonly object[];
  return {
    ...base,
    content: parts.map((part) => ('refusal' in part ? { ...part, refusal: '' } : part)),
  };
}

function pieces(text: string, lengths: readonly number[] | undefined): string[] {
  if (lengths === undefined || lengths.length === 0) return text.match(/\s*\S+|\s+$/g) ?? [];
  let at = 0;
  return lengths.map((length) => text.slice(at, (at += length)));
}

/** One page of items; by default the newest first. */
export function itemsPage(items: readonly Item[], query: Query): string {
  return listBody(pageOf(items, query));
}

interface Named {
  readonly id: string;
}

/** A part of a list, in the requested order. */
export interface Page<One extends Named> {
  readonly data: readonly One[];
  readonly hasMore: boolean;
}

/** @param items the oldest first; `order` is `desc` by default */
export function pageOf<One extends Named>(items: readonly One[], query: Query): Page<One> {
  const limit = integerIn(query, 'limit') ?? USUAL_PAGE;
  if (limit < 1 || limit > MAX_PAGE) {
    throw valueError({
      field: 'limit',
      message: `limit must be in [1, ${MAX_PAGE}], got ${limit}.`,
    });
  }
  const order = query['order'] ?? 'desc';
  if (order !== 'asc' && order !== 'desc') {
    throw valueError({ field: 'order', message: "order must be 'asc' or 'desc'." });
  }
  const all = order === 'asc' ? items : items.toReversed();
  const after = query['after'];
  const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) {
    throw valueError({
      field: 'after',
      message: `after is not the id of an item: '${String(after).slice(0, 200)}'.`,
    });
  }
  return { data: all.slice(from, from + limit), hasMore: from + limit < all.length };
}

/** A page as sent to clients. */
export function listBody({ data, hasMore }: Page<Named>): string {
  return joinedList(
    data.map((item) => ({ id: item.id, text: asciiJson(item) })),
    hasMore,
  );
}

/** Like `listBody`, for items that are JSON already. */
export function joinedList(
  data: readonly { readonly id: string; readonly text: string }[],
  hasMore: boolean,
): string {
  const items = data.map(({ text }) => text).join(',');
  const [first, last] = [data[0], data.at(-1)].map((item) => asciiJson(item?.id ?? null));
  const ends = `"first_id":${first},"last_id":${last},"has_more":${hasMore}`;
  return `{"object":"list","data":[${items}],${ends}}`;
}

/** Body of POST /v1/responses/input_tokens. */
export function inputTokensBody({ generation }: ResponseRequest): string {
  const tokens = generation.prompts[0]?.ids.length ?? 0;
  return asciiJson({ object: 'response.input_tokens', input_tokens: tokens });
}

function integerIn(query: Query, name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^-?\d{1,9}$/.test(text)) return Number(text);
  throw valueError({ field: name, message: `${name} must be an integer.` });
}
