import { BatonError } from '@baton/contract';
import { checkedBody, Holds, missingField, type RequestLimits, valueError } from '@baton/openai';
import { asciiJson } from '@baton/text';
import { IsArray, IsObject } from 'class-validator';
import { type Item, readItems } from './items';
import { newId } from './new-id';
import { metadataRange } from './responses.dto';
import { itemsPage } from './stored-response';

/** OpenAI's limit. */
const MAX_ITEMS_AT_ONCE = 20;

type Items = readonly Readonly<Record<string, unknown>>[];

function itemsRange(items: Items): { readonly message: string } | undefined {
  return items.length > MAX_ITEMS_AT_ONCE
    ? { message: `items must have at most ${MAX_ITEMS_AT_ONCE}, got ${items.length}.` }
    : undefined;
}

/** Bodies of POST /v1/conversations, of updates and of new items. */
export class ConversationRequest {
  @Holds(itemsRange) @IsArray() @IsObject({ each: true }) items?: Items | null;
  @Holds(metadataRange) @IsObject() metadata?: Readonly<Record<string, string>> | null;
}

/** A conversation without its items. */
export interface ConversationHead {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly createdAt: number;
  readonly metadata: object;
}

/** A conversation as stored. Its items are the last key, the oldest first. */
export interface StoredConversation extends ConversationHead {
  readonly items: readonly Item[];
}

/** A conversation as sent to clients. */
export function conversationObject({ id, createdAt, metadata }: ConversationHead): object {
  return { id, object: 'conversation', created_at: createdAt, metadata };
}

/** The part of a stored conversation that a client requests, or a change to it. */
export type ConversationView =
  | { readonly kind: 'items'; readonly query: Readonly<Record<string, unknown>> }
  | { readonly kind: 'item'; readonly id: string }
  /** The stored conversation without one item. */
  | { readonly kind: 'without'; readonly id: string };

/** A view of a parsed conversation. Throws `item_not_found`. */
export function storedConversationBody(
  stored: unknown,
  _limits: RequestLimits,
  view: ConversationView,
): string {
  const { items, ...head } = stored as StoredConversation;
  if (view.kind === 'items') return itemsPage(items, view.query);
  const item = items.find(({ id }) => id === view.id);
  if (item === undefined) {
    const message = `Item with id '${view.id.slice(0, 200)}' not found.`;
    throw new BatonError('item_not_found', message);
  }
  if (view.kind === 'item') return asciiJson(item);
  return JSON.stringify({ ...head, items: items.filter(({ id }) => id !== view.id) });
}

/**
 * The metadata and the items of a body that begins a conversation, as JSON. Both are optional.
 * Throws `BatonError`.
 */
export function newConversationBody(body: unknown): string {
  const { items, metadata } = read(body ?? {});
  return JSON.stringify({ metadata: metadata ?? {}, items: readOwnItems(items ?? []) });
}

/** The items that a body adds, at least one, as a JSON list. Throws `BatonError`. */
export function newItemsBody(body: unknown): string {
  const { items } = read(body);
  if (items === undefined || items === null || items.length === 0) throw missingField('items');
  return JSON.stringify(readOwnItems(items));
}

/** Reads metadata that replaces the previous metadata. */
export function readMetadata(body: unknown): object {
  const { metadata } = read(body);
  if (metadata === undefined) throw missingField('metadata');
  return metadata ?? {};
}

/** Errors have OpenAI's shape in both dialects. */
function read(body: unknown): ConversationRequest {
  return checkedBody(ConversationRequest, body, { dialect: 'openai' });
}

/** Reads items of a conversation. Throws for references, which a conversation cannot resolve. */
function readOwnItems(items: Items): Item[] {
  const own = readItems(items, newId, 'items');
  const at = own.findIndex(({ type }) => type === 'item_reference');
  if (at < 0) return own;
  const field = `items[${at}].type`;
  throw valueError({ field, message: `${field} 'item_reference' cannot be in a conversation.` });
}
