import {
  arrayOf,
  Is,
  missingField,
  OBJECT,
  objectBody,
  validateBody,
  valueError,
  Within,
} from '@baton/openai';
import { type Item, readItems } from './items';
import { metadataRange } from './responses.dto';

/** OpenAI's. */
const MAX_ITEMS_AT_ONCE = 20;

type NewId = (prefix: string) => string;
type Items = readonly Readonly<Record<string, unknown>>[];

function itemsRange(items: Items): { readonly message: string } | undefined {
  return items.length > MAX_ITEMS_AT_ONCE
    ? { message: `items must have at most ${MAX_ITEMS_AT_ONCE}, got ${items.length}.` }
    : undefined;
}

/** Bodies of POST /v1/conversations, of its update and of its items. */
export class ConversationDto {
  @Is(arrayOf(OBJECT))
  @Within(itemsRange)
  items?: Items | null;

  @Is(OBJECT)
  @Within(metadataRange)
  metadata?: Readonly<Record<string, string>> | null;
}

/** A conversation as it goes over the wire. */
export function conversationObject(stored: {
  readonly id: string;
  readonly createdAt: number;
  readonly metadata: object;
}): object {
  const { id, createdAt: created_at, metadata } = stored;
  return { id, object: 'conversation', created_at, metadata };
}

/** Reads the body of a new conversation; all of it may be left out. */
export function readConversation(
  body: unknown,
  newId: NewId,
): { readonly metadata: object; readonly items: readonly Item[] } {
  const { items, metadata } = read(body ?? {});
  return { metadata: metadata ?? {}, items: readOwnItems(items ?? [], newId) };
}

/** Reads items that are added, at least one. */
export function readConversationItems(body: unknown, newId: NewId): Item[] {
  const { items } = read(body);
  if (items === undefined || items === null || items.length === 0) throw missingField('items');
  return readOwnItems(items, newId);
}

/** Reads the metadata that takes the place of what there was. */
export function readMetadata(body: unknown): object {
  const { metadata } = read(body);
  if (metadata === undefined) throw missingField('metadata');
  return metadata ?? {};
}

function read(body: unknown): ConversationDto {
  return validateBody(new ConversationDto(), objectBody(body));
}

/** A conversation has no place to look a reference up in. */
function readOwnItems(items: Items, newId: NewId): Item[] {
  const own = readItems(items, newId, 'items');
  const at = own.findIndex(({ type }) => type === 'item_reference');
  if (at < 0) return own;
  const field = `items[${at}].type`;
  throw valueError({ field, message: `${field} 'item_reference' has no place in a conversation.` });
}
