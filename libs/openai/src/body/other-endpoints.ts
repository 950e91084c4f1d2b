/** The field that carries the conversation or the text, and the endpoints of that field. */
const MAIN_FIELDS = {
  messages: '/v1/chat/completions',
  prompt: '/v1/completions',
  input: '/v1/responses or /v1/embeddings',
} as const;

/**
 * A sentence for a body that lacks its main field and has that of another endpoint, with a leading
 * blank; otherwise empty.
 */
export function otherEndpoint(missing: string, body: object): string {
  if (!Object.hasOwn(MAIN_FIELDS, missing)) return '';
  for (const [field, path] of Object.entries(MAIN_FIELDS)) {
    const isGiven = Object.hasOwn(body, field) && Reflect.get(body, field) !== null;
    if (field !== missing && isGiven) return ` A body with '${field}' is for ${path}.`;
  }
  return '';
}
