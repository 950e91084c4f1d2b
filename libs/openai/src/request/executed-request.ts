import { isObject } from '@baton/kernel';
import type { Endpoint, GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import { objectBody } from '../body/checked-body';

/** vLLM's default for completions without a limit. */
const DEFAULT_MAX_TOKENS = 16;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A request that an external server checks and answers, reduced to the facts that the cluster
 * needs: the length and contents of its prompt in Baton's tokens, its limit and its priority.
 * Throws `BatonError` for a body that is not a JSON object.
 */
export function executedRequest(
  endpoint: Endpoint,
  body: unknown,
  limits: RequestLimits,
): GenerationRequest {
  const fields = objectBody(body);
  const most = limits.maxModelLen - 1;
  const ids = Int32Array.from(promptIds(endpoint, fields, limits).slice(0, most));
  const prompt = ids.length === 0 ? Int32Array.of(0) : ids;
  const { model, stream, priority, cache_salt: salt, user } = fields;
  return {
    endpoint,
    model: typeof model === 'string' && model !== '' ? model : (limits.models[0] ?? ''),
    prompts: [
      { ids: prompt, echoText: undefined, maxTokens: maxTokensIn(fields), hidesOutput: false },
    ],
    stream: stream === true,
    priority: Number.isInteger(priority) ? (priority as number) : 0,
    cacheSalt: typeof salt === 'string' ? salt : undefined,
    user: typeof user === 'string' ? user : undefined,
    ...NO_OPTIONS,
  };
}

/** Fields without a value here, because the server reads them itself. */
const NO_OPTIONS = {
  choices: 1,
  shownChoices: 1,
  includeUsage: false,
  continuousUsage: false,
  seed: undefined,
  minTokens: 0,
  ignoreEos: true,
  stop: [],
  stopTokenIds: [],
  includeStop: false,
  steering: undefined,
  constraint: undefined,
  tools: undefined,
  reasoning: undefined,
  logprobs: undefined,
  promptLogprobs: undefined,
  tokensAsIds: false,
  echo: false,
  returnTokenIds: false,
  returnPromptText: false,
  kvTransferParams: undefined,
  engineParameters: undefined,
  requestId: undefined,
  serviceTier: undefined,
  calls: { kind: 'tools', finishReason: 'tool_calls' },
  sampling: {
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    minP: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    repetitionPenalty: undefined,
  },
} as const;

function maxTokensIn({ max_completion_tokens: newer, max_tokens: older }: Fields): number {
  const given = [newer, older].find((one) => Number.isInteger(one) && (one as number) > 0);
  return (given as number | undefined) ?? DEFAULT_MAX_TOKENS;
}

function promptIds(endpoint: Endpoint, fields: Fields, limits: RequestLimits): number[] {
  const input = endpoint === 'chat' ? fields['messages'] : fields['prompt'];
  if (isIds(input)) return input;
  const text = textsIn(input).join('\n');
  return [...limits.tokenizer.encode(text, limits.maxModelLen)];
}

function isIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one));
}

/** All texts of a prompt, or of the messages of a conversation. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? textsIn(value['content'] ?? value['text']) : [];
}
