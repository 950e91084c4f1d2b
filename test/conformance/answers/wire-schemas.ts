import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import type { Dialect, Endpoint } from '@baton/openai';

type Fields = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const count = { type: 'integer', minimum: 0 };
const ids = { type: ['array', 'null'], items: { type: 'integer', minimum: 0 } };
const anything = {};

/** An object of exactly these fields, of which some may be absent. */
function record(required: Fields, optional: Fields = {}): object {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

const listOf = (items: object): object => ({ type: 'array', items });
const orNull = (schema: object): object => ({ anyOf: [{ type: 'null' }, schema] });

/** What only vLLM has, or gives where OpenAI has none; each appears in the openai dialect when it was asked for. */
const EXTRA_BODY = {
  prompt_logprobs: anything,
  prompt_token_ids: ids,
  prompt_text: textOrNull,
  kv_transfer_params: anything,
};
const VLLM_BODY = {
  ...EXTRA_BODY,
  ec_transfer_params: { type: 'null' },
  metrics: { type: 'null' },
};
const VLLM_CHOICE = {
  stop_reason: { type: ['string', 'integer', 'null'] },
  routed_experts: { type: 'null' },
};
const EXTRA_CHOICE = { token_ids: ids, prompt_token_ids: ids, prompt_logprobs: anything };

const details = record(
  { cached_tokens: count },
  { audio_tokens: count, created_cache_tokens: anything, multimodal_tokens: anything },
);
const usage = record(
  { prompt_tokens: count, completion_tokens: count, total_tokens: count },
  {
    prompt_tokens_details: orNull(details),
    completion_tokens_details: record({
      reasoning_tokens: count,
      audio_tokens: count,
      accepted_prediction_tokens: count,
      rejected_prediction_tokens: count,
    }),
  },
);

const bytes = { type: ['array', 'null'], items: { type: 'integer', minimum: 0, maximum: 255 } };
const rival = record({ token: text, logprob: { type: 'number' }, bytes });
const scored = record({
  token: text,
  logprob: { type: 'number' },
  bytes,
  top_logprobs: listOf(rival),
});
const chatLogprobs = record({ content: orNull(listOf(scored)) }, { refusal: { type: 'null' } });
const completionLogprobs = record({
  text_offset: listOf(count),
  token_logprobs: listOf({ type: ['number', 'null'] }),
  tokens: listOf(text),
  top_logprobs: listOf({ type: ['object', 'null'] }),
});

const called = record({ name: text, arguments: text });
const toolCall = record({ id: text, type: { const: 'function' }, function: called });
const calledPart = record({ arguments: text }, { name: textOrNull });
const toolCallPart = record(
  { index: count },
  { id: text, type: { const: 'function' }, function: calledPart },
);

const ENDS = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];
const REASONING = { reasoning: textOrNull, reasoning_content: text };
const message = record(
  { role: { const: 'assistant' }, content: textOrNull, refusal: { type: 'null' } },
  {
    annotations: { type: ['array', 'null'] },
    audio: { type: 'null' },
    tool_calls: listOf(toolCall),
    function_call: orNull(called),
    ...REASONING,
  },
);
const delta = record(
  {},
  {
    role: { const: 'assistant' },
    content: textOrNull,
    tool_calls: listOf(toolCallPart),
    function_call: calledPart,
    ...REASONING,
  },
);

function schemaOf(dialect: Dialect, endpoint: Endpoint, isStreamed: boolean): object {
  const isChat = endpoint === 'chat';
  const end = { enum: isStreamed ? [...ENDS, null] : ENDS };
  const outcome = {
    index: count,
    logprobs: orNull(isChat ? chatLogprobs : completionLogprobs),
    finish_reason: end,
  };
  const said = isChat ? (isStreamed ? { delta } : { message }) : { text };
  const more = dialect === 'vllm' ? { ...EXTRA_CHOICE, ...VLLM_CHOICE } : EXTRA_CHOICE;
  const choice = record({ ...outcome, ...said }, more);
  const object = isChat ? `chat.completion${isStreamed ? '.chunk' : ''}` : 'text_completion';
  const head = { id: text, object: { const: object }, created: count, model: text };
  const common = {
    usage: isStreamed ? orNull(usage) : usage,
    system_fingerprint: text,
    service_tier: textOrNull,
    ...(dialect === 'vllm' ? VLLM_BODY : EXTRA_BODY),
  };
  return record({ ...head, choices: listOf(choice) }, common);
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
const made = new Map<string, ValidateFunction>();

/** What is wrong with a body or chunk, by OpenAI's schema of it with the extras of a vLLM server; empty when nothing is. */
export function wireFaults(
  body: unknown,
  path: { readonly dialect: Dialect; readonly endpoint: Endpoint; readonly isStreamed: boolean },
): string {
  const { dialect, endpoint, isStreamed } = path;
  const key = `${dialect} ${endpoint} ${isStreamed}`;
  let validate = made.get(key);
  if (validate === undefined) {
    validate = ajv.compile(schemaOf(dialect, endpoint, isStreamed));
    made.set(key, validate);
  }
  return validate(body) ? '' : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`;
}
