import { asciiJson, type RawJson, rawArray, rawEntries } from '@baton/text';
import type { OutputItem } from './response-events';

/** An object as ASCII JSON. The fields in `written` are JSON already. Keys keep their order. */
export function jsonWith(object: object, written: Readonly<Record<string, RawJson>>): RawJson {
  const fields = Object.entries(object).map(([key, value]): [string, RawJson | undefined] => [
    key,
    Object.hasOwn(written, key) ? written[key] : value === undefined ? value : asciiJson(value),
  ]);
  return rawEntries(fields);
}

/** @param logprobs JSON list for the text of a message; unused for other items */
export function itemJson(item: OutputItem, logprobs: RawJson): RawJson {
  const [part] = item.type === 'message' ? (item['content'] as readonly object[]) : [];
  if (part === undefined || !('logprobs' in part)) return asciiJson(item);
  return jsonWith(item, { content: rawArray([jsonWith(part, { logprobs })]) });
}
