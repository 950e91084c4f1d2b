// The fields of a completion or chat request that matter here. vLLM's fields and messages; unknown
// fields are ignored, as in vLLM.

const MAX_STOPS = 16;

/** An error answer: vLLM's `ErrorResponse`. */
export class Refusal extends Error {
  constructor(status, message, param = null) {
    super(message);
    Object.assign(this, { status, param });
  }
}

/**
 * The request in a body.
 *
 * @param endpoint  `completions` or `chat`
 * @throws Refusal
 */
export function readRequest(endpoint, body) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal(400, 'The body must be a JSON object.');
  }
  refuseUnsupported(body);
  const kv = body.kv_transfer_params ?? undefined;
  return {
    endpoint,
    model: body.model ?? undefined,
    ...(endpoint === 'chat' ? { messages: messagesIn(body) } : { prompt: promptIn(body) }),
    isStream: body.stream === true,
    hasUsage: body.stream_options?.include_usage === true,
    wantsTokenIds: body.return_token_ids === true,
    maxTokens: maxTokensIn(endpoint, body),
    minTokens: number(body, 'min_tokens', { fallback: 0, min: 0, isWhole: true }),
    ignoreEos: body.ignore_eos === true,
    stops: stopsIn(body),
    stopTokenIds: tokenIds(body.stop_token_ids ?? [], 'stop_token_ids'),
    sampling: samplingIn(body),
    kv: typeof kv === 'object' && !Array.isArray(kv) ? kv : undefined,
  };
}

function refuseUnsupported(body) {
  if ((body.n ?? 1) !== 1 || (body.best_of ?? 1) !== 1) {
    throw new Refusal(400, 'Only one choice is generated (n = 1).', 'n');
  }
  for (const field of ['echo', 'logprobs', 'prompt_logprobs', 'use_beam_search', 'suffix']) {
    const value = body[field] ?? false;
    if (value !== false) throw new Refusal(400, `${field} is not supported.`, field);
  }
}

function maxTokensIn(endpoint, body) {
  const field = body.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens';
  const fallback = endpoint === 'chat' ? undefined : 16;
  return number(body, field, { fallback, min: 1, isWhole: true });
}

function samplingIn(body) {
  const topK = number(body, 'top_k', { fallback: 0, min: -1, isWhole: true });
  return {
    temperature: number(body, 'temperature', { fallback: 1, min: 0 }),
    topP: number(body, 'top_p', { fallback: 1, min: 0, max: 1 }),
    topK: Math.max(0, topK),
    minP: number(body, 'min_p', { fallback: 0, min: 0, max: 1 }),
    seed: number(body, 'seed', { fallback: undefined, min: -(2 ** 53), isWhole: true }),
  };
}

function number(body, field, { fallback, min, max = 2 ** 53, isWhole = false }) {
  const value = body[field] ?? undefined;
  if (value === undefined) return fallback;
  const isRight = isWhole ? Number.isInteger(value) : Number.isFinite(value);
  if (isRight && value >= min && value <= max) return value;
  throw new Refusal(400, `${field} must be a number of at least ${min}, got ${value}.`, field);
}

function stopsIn({ stop = [] }) {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? []);
  const isRight =
    Array.isArray(stops) &&
    stops.length <= MAX_STOPS &&
    stops.every((each) => typeof each === 'string');
  if (isRight) return stops.filter((each) => each !== '');
  throw new Refusal(400, `stop must be a string or at most ${MAX_STOPS} of them.`, 'stop');
}

function promptIn({ prompt }) {
  if (typeof prompt === 'string') return prompt;
  const only = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : undefined;
  if (typeof only === 'string') return only;
  return tokenIds(Array.isArray(only) ? only : prompt, 'prompt');
}

function tokenIds(ids, field) {
  const isRight = Array.isArray(ids) && ids.every((id) => Number.isInteger(id) && id >= 0);
  if (isRight) return ids;
  throw new Refusal(400, `${field} must be text or token ids.`, field);
}

function messagesIn({ messages }) {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Refusal(400, 'messages must be a list of at least one.', 'messages');
  }
  return messages.map((message) => ({ ...message, content: textIn(message?.content) }));
}

function textIn(content) {
  if (typeof content === 'string') return content;
  if (content == null) return '';
  const parts = Array.isArray(content) ? content : [undefined];
  return parts
    .map((part) => {
      if (part?.type === 'text' && typeof part.text === 'string') return part.text;
      throw new Refusal(400, 'Only text can be in a message.', 'messages');
    })
    .join('');
}
