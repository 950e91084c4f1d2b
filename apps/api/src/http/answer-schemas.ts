import type { JsonSchema } from '@baton/openai';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const FLAG = { type: 'boolean' };
const ANY = {};

type Fields = Readonly<Record<string, JsonSchema>>;

/** An object with all of these fields and perhaps others: the other fields differ by dialect. */
function record(properties: Fields, optional: Fields = {}): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
  };
}

const constant = (value: string): JsonSchema => ({ const: value });
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

const FINISH = { type: ['string', 'null'] };
const USAGE = record({ prompt_tokens: COUNT, completion_tokens: COUNT, total_tokens: COUNT });
const OF_TOKENS = record({ input_tokens: COUNT, output_tokens: COUNT });

const ANSWER = { id: TEXT, created: COUNT, model: TEXT, usage: USAGE };
const USED = { usage: record({ prompt_tokens: COUNT, total_tokens: COUNT }) };
const RENDERED = record({
  request_id: TEXT,
  model: TEXT,
  token_ids: listOf(COUNT),
  sampling_params: { type: 'object' },
});
const SGLANG = record({ text: TEXT, output_ids: listOf(COUNT), meta_info: { type: 'object' } });
const MODEL = record(
  { id: TEXT, object: constant('model'), created: COUNT, owned_by: TEXT },
  { root: TEXT, parent: orNull(TEXT), max_model_len: orNull(COUNT) },
);

/**
 * The schemas of JSON answers by name. They have the fields that every answer has in both dialects,
 * as the clients of OpenAI and Anthropic read them.
 */
export function answerSchemas() {
  return { ...generated(), ...aboutTexts(), ...aboutServers() } satisfies Record<
    string,
    JsonSchema
  >;
}

/** Answers of generation, and the data that clients store. */
function generated() {
  return {
    ChatCompletion: record({
      ...ANSWER,
      object: constant('chat.completion'),
      choices: listOf(
        record({
          index: COUNT,
          finish_reason: FINISH,
          message: record(
            { role: constant('assistant'), content: orNull(TEXT) },
            { tool_calls: orNull(listOf({ type: 'object' })), reasoning_content: orNull(TEXT) },
          ),
        }),
      ),
    }),
    Completion: record({
      ...ANSWER,
      object: constant('text_completion'),
      choices: listOf(record({ index: COUNT, text: TEXT, finish_reason: FINISH })),
    }),
    Response: record({
      id: TEXT,
      object: constant('response'),
      created_at: COUNT,
      model: TEXT,
      status: {
        enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'],
      },
      output: listOf(record({ type: TEXT })),
      usage: orNull(OF_TOKENS),
    }),
    InputTokens: record({ object: constant('response.input_tokens'), input_tokens: COUNT }),
    Message: record({
      id: TEXT,
      type: constant('message'),
      role: constant('assistant'),
      model: TEXT,
      content: listOf(record({ type: TEXT })),
      stop_reason: { type: ['string', 'null'] },
      usage: OF_TOKENS,
    }),
    MessageTokens: record({ input_tokens: COUNT }),
    CompactedResponse: record({
      id: TEXT,
      object: constant('response.compaction'),
      created_at: COUNT,
      output: listOf(record({ type: TEXT })),
    }),
    Conversation: record({
      id: TEXT,
      object: constant('conversation'),
      created_at: COUNT,
      metadata: { type: 'object' },
    }),
    List: record({
      object: constant('list'),
      data: listOf({ type: 'object' }),
      first_id: orNull(TEXT),
      last_id: orNull(TEXT),
      has_more: { type: 'boolean' },
    }),
    ConversationItem: record({ id: TEXT, type: TEXT }),
    Deleted: record({ id: TEXT, object: TEXT, deleted: { const: true } }),
  };
}

/** Answers about texts and tokens. */
function aboutTexts() {
  return {
    EmbeddingList: record({
      object: constant('list'),
      model: TEXT,
      ...USED,
      data: listOf(record({ index: COUNT, embedding: ANY })),
    }),
    PooledList: record({
      object: constant('list'),
      model: TEXT,
      ...USED,
      data: listOf(record({ index: COUNT })),
    }),
    RankedDocuments: record({
      id: TEXT,
      model: TEXT,
      ...USED,
      results: listOf(record({ index: COUNT, relevance_score: { type: 'number' } })),
    }),
    GeneratedTokens: record({
      request_id: TEXT,
      model: TEXT,
      created: COUNT,
      usage: USAGE,
      choices: listOf(record({ index: COUNT, token_ids: listOf(COUNT), finish_reason: FINISH })),
    }),
    SglangGenerated: { anyOf: [SGLANG, listOf(SGLANG)] },
    Rendered: RENDERED,
    RenderedList: listOf(RENDERED),
    Tokens: record({ count: COUNT, max_model_len: COUNT, tokens: listOf(COUNT) }),
    Text: record({ prompt: TEXT }),
    TokenizerInfo: record({ tokenizer_class: TEXT, vocab_size: COUNT, model_max_length: COUNT }),
  };
}

/** Answers about the server and the cluster. */
function aboutServers() {
  const states = {
    Asleep: record({ is_sleeping: FLAG }),
    Paused: record({ is_paused: FLAG }),
    Status: record({ status: TEXT }),
    CacheReset: record({ success: FLAG }),
    Aborted: record({ status: constant('aborted'), aborted: COUNT }),
    Batch: record({
      prefill_queue_depth: COUNT,
      prefill_batch_size: COUNT,
      prefill_batch_tokens: COUNT,
      decode_queue_depth: COUNT,
      decode_batch_size: COUNT,
      decode_avg_context_length: { type: 'number', minimum: 0 },
      decode_requests: listOf({ type: 'object' }),
      engines: listOf({ type: 'object' }),
    }),
  };
  const orders = {
    EngineList: record({
      object: constant('list'),
      data: listOf(
        record({ object: constant('engine'), id: TEXT, name: TEXT, role: TEXT, state: TEXT }),
      ),
    }),
    Joining: record({ role: TEXT, joining: COUNT }),
    Cancelled: record({ cancelled: COUNT }),
    Leaving: record({ id: TEXT, name: TEXT, state: constant('draining') }),
    Becoming: record({ id: TEXT, name: TEXT, state: constant('draining'), becomes: TEXT }),
    Settings: record({
      object: constant('config'),
      revision: COUNT,
      settings: { type: 'object' },
      fixed: { type: 'object' },
    }),
  };
  return {
    ModelList: record({ object: constant('list'), data: listOf(MODEL) }),
    Model: MODEL,
    ModelInfo: record({ model_path: TEXT, tokenizer_path: TEXT, is_generation: FLAG }),
    Version: record({ version: TEXT }),
    Load: record({ server_load: COUNT }),
    Alive: record({ status: constant('ok'), pid: COUNT, api_id: TEXT }),
    Readiness: record({ status: TEXT, missing: listOf(TEXT) }),
    ...states,
    ...orders,
  };
}
