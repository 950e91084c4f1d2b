import type { Dialect } from '@baton/openai';
import type { TypeRules } from './field-rule';

const nothing = { type: 'null' };
const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const count = { type: 'integer', minimum: 0 };
const bytes = { type: 'array', items: count };
const ids = { type: ['array', 'null'], items: count };
const scores = {
  type: ['array', 'null'],
  items: {
    type: ['object', 'null'],
    additionalProperties: {
      type: 'object',
      properties: { logprob: { type: 'number' }, rank: count, decoded_token: textOrNull },
      required: ['logprob', 'rank', 'decoded_token'],
      additionalProperties: false,
    },
  },
};
const permission = {
  type: 'array',
  items: { type: 'object', required: ['id', 'object', 'created', 'allow_sampling'] },
};

/**
 * Fields that OpenAI does not have, present in both dialects when the request asks for them, or
 * where benchmark clients need them.
 */
const ASKED: TypeRules = {
  ChatCompletion: {
    prompt_logprobs: { extra: scores },
    prompt_token_ids: { extra: ids },
    prompt_text: { extra: textOrNull },
    kv_transfer_params: { extra: { type: ['object', 'null'] } },
  },
  'ChatCompletion.Choice': { token_ids: { extra: ids } },
  ChatCompletionMessage: { reasoning_content: { extra: text } },
  ChatCompletionChunk: { prompt_token_ids: { extra: ids }, prompt_text: { extra: textOrNull } },
  'ChatCompletionChunk.Choice': { token_ids: { extra: ids } },
  'ChatCompletionChunk.Choice.Delta': { reasoning_content: { extra: text } },
  'ChatCompletionChunk.Choice.Delta.ToolCall': {
    type: { also: { const: 'custom' } },
    custom: { extra: { type: 'object', properties: { name: text, input: text } } },
  },
  Completion: {
    kv_transfer_params: { extra: { type: ['object', 'null'] } },
    service_tier: { extra: text },
    // Chunks before the last one, when usage was asked for.
    usage: { also: nothing },
  },
  CompletionChoice: {
    token_ids: { extra: ids },
    prompt_token_ids: { extra: ids },
    prompt_logprobs: { extra: scores },
    // A chunk has the type of the whole answer, and no finish reason yet.
    finish_reason: { also: nothing },
  },
  // Open Responses requires them; the client computes `output_text`.
  Response: {
    output_text: { isAbsent: true },
    frequency_penalty: { extra: { type: 'number' } },
    presence_penalty: { extra: { type: 'number' } },
    max_tool_calls: { extra: { type: ['integer', 'null'] } },
    store: { extra: { type: 'boolean' } },
    // Until the end of the response.
    usage: { also: nothing },
  },
  ResponseFormatTextJSONSchemaConfig: { description: { also: nothing } },
  'ResponseTextDeltaEvent.Logprob': { bytes: { extra: bytes } },
  'ResponseTextDeltaEvent.Logprob.TopLogprob': { bytes: { extra: bytes } },
  'ResponseTextDoneEvent.Logprob': { bytes: { extra: bytes } },
  'ResponseTextDoneEvent.Logprob.TopLogprob': { bytes: { extra: bytes } },
  // The first token of an echo has no predecessor.
  'CompletionChoice.Logprobs': {
    token_logprobs: { also: { type: 'array', items: { type: ['number', 'null'] } } },
    top_logprobs: { also: { type: 'array', items: { type: ['object', 'null'] } } },
  },
  Embedding: { embedding: { also: text } },
  Model: {
    root: { extra: text },
    parent: { extra: textOrNull },
    max_model_len: { extra: { type: ['integer', 'null'] } },
    permission: { extra: permission },
  },
};

/** Fields that vLLM adds, sends as null or leaves out. */
const VLLM: TypeRules = {
  ChatCompletion: { ec_transfer_params: { extra: nothing }, metrics: { extra: nothing } },
  'ChatCompletion.Choice': {
    stop_reason: { extra: { type: ['string', 'integer', 'null'] } },
    routed_experts: { extra: nothing },
    finish_reason: { also: { enum: ['abort', 'repetition'] } },
  },
  'ChatCompletion.Choice.Logprobs': { refusal: { isAbsent: true } },
  ChatCompletionMessage: {
    reasoning: { extra: textOrNull },
    annotations: { also: nothing },
    function_call: { also: nothing },
  },
  'ChatCompletionChunk.Choice': {
    stop_reason: { extra: { type: ['string', 'integer', 'null'] } },
    finish_reason: { also: { enum: ['abort', 'repetition'] } },
  },
  'ChatCompletionChunk.Choice.Logprobs': { refusal: { isAbsent: true } },
  'ChatCompletionChunk.Choice.Delta': { reasoning: { extra: textOrNull } },
  'ChatCompletionChunk.Choice.Delta.ToolCall.Function': { name: { also: nothing } },
  Completion: {
    ec_transfer_params: { extra: nothing },
    metrics: { extra: nothing },
    service_tier: { extra: textOrNull },
  },
  CompletionChoice: {
    stop_reason: { extra: { type: ['string', 'integer', 'null'] } },
    routed_experts: { extra: nothing },
    finish_reason: { also: { enum: ['abort', 'repetition', null] } },
  },
  CompletionUsage: { prompt_tokens_details: { also: nothing } },
  'CompletionUsage.PromptTokensDetails': {
    created_cache_tokens: { extra: { type: ['integer', 'null'] } },
    multimodal_tokens: { extra: { type: ['object', 'null'] } },
  },
  CreateEmbeddingResponse: { id: { extra: text }, created: { extra: count } },
  'CreateEmbeddingResponse.Usage': {
    completion_tokens: { extra: count },
    prompt_tokens_details: { extra: nothing },
  },
  ErrorObject: { code: { also: { type: 'integer' } } },
};

/**
 * Every permitted difference between an answer and the types of OpenAI's client. Any other field or
 * value is a fault.
 */
export function openaiExtras(dialect: Dialect): TypeRules {
  return dialect === 'openai' ? ASKED : merged(ASKED, VLLM);
}

function merged(a: TypeRules, b: TypeRules): TypeRules {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, { ...a[name], ...b[name] }]));
}
