/** The fields of a JSON object, by name. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields, not a list or null. */
export function isObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object; empty for anything else. */
export function fieldsIn(value: unknown): JsonFields {
  return isObject(value) ? value : {};
}

/** A text of at least one character; undefined for anything else. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number >= 0; undefined for anything else. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The object in a JSON text; undefined when it is not an object or not JSON. */
export function objectIn(text: string): JsonFields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
