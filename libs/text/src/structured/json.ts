import { spendWork } from '@baton/kernel';
import { ConstraintError } from './constraint-error';

/** Maximum depth of a document, so that recursive readers are safe. */
const MAX_DEPTH = 500;

/** A decoded JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** An object with own keys only, which may include `__proto__`. */
export function jsonObject(entries: Iterable<readonly [string, Json]>): JsonObject {
  const object = Object.create(null) as Record<string, Json>;
  for (const [key, value] of entries) object[key] = value;
  return object;
}

/** A key of a value. Equal values have equal keys, in any order of their properties. */
export function jsonKey(value: Json): string {
  spendWork(1);
  if (isJsonArray(value)) return `[${value.map(jsonKey).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(Object.is(value, -0) ? 0 : value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${jsonKey(value[key]!)}`).join()}}`;
}

/** Length in code points, as JSON Schema counts it. */
export function codePointsOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export interface JsonStyle {
  /** A space after each colon and comma, as models write JSON. */
  readonly isSpaced: boolean;
}

export function writeJson(value: Json, style: JsonStyle): string {
  const [comma, colon] = style.isSpaced ? [', ', ': '] : [',', ':'];
  const write = (part: Json): string => {
    if (isJsonArray(part)) return `[${part.map(write).join(comma)}]`;
    if (!isJsonObject(part)) return JSON.stringify(part);
    const members = Object.keys(part).map((key) => JSON.stringify(key) + colon + write(part[key]!));
    return `{${members.join(comma)}}`;
  };
  return write(value);
}

/** Throws `ConstraintError` for a document with too many levels. */
export function checkDepth(document: Json): void {
  let level: Json[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new ConstraintError('nested too deeply');
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value as JsonObject) : [],
    );
  }
}
