/** Values as Python prints them, for the messages in which vLLM quotes what a client sent. */
const MAX_CHARACTERS = 1000;
const MAX_DEPTH = 6;

/**
 * `repr(value)` of a decoded JSON value. Values come from the client, so long or deep ones are cut
 * with `...`.
 */
export function pythonRepr(value: unknown): string {
  const text = repr(value, MAX_DEPTH);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}...` : text;
}

function repr(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return numberRepr(value);
  if (typeof value === 'string') return stringRepr(value.slice(0, MAX_CHARACTERS));
  if (depth === 0) return '...';
  if (Array.isArray(value)) {
    return `[${value
      .slice(0, MAX_CHARACTERS)
      .map((item) => repr(item, depth - 1))
      .join(', ')}]`;
  }
  const entries = Object.entries(value).slice(0, MAX_CHARACTERS);
  return `{${entries
    .map(([key, item]) => `${stringRepr(key)}: ${repr(item, depth - 1)}`)
    .join(', ')}}`;
}

/** `repr` of a float, which always has a point or an exponent. */
export function pythonFloat(value: number): string {
  const text = numberRepr(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** A tuple or list as Python prints it: `[1, 2]` is a list, `('body', 1)` a tuple. */
export function pythonTuple(items: readonly (string | number)[]): string {
  const inner = items.map((item) => repr(item, 1)).join(', ');
  return items.length === 1 ? `(${inner},)` : `(${inner})`;
}

function numberRepr(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : value < 0 ? '-inf' : 'nan';
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text
    .replace(/\\/g, '\\\\')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t')
    .replace(new RegExp(quote, 'g'), `\\${quote}`);
  return quote + inner + quote;
}
