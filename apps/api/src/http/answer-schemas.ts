import type { JsonSchema } from '@baton/openai';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
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
const MODEL = record(
  { id: TEXT, object: constant('model'), created: COUNT, owned_by: TEXT },
  { root: TEXT, parent: orNull(TEXT), max_model_len: orNull(COUNT) },
);

/**
 * The schemas of JSON answers by name. They have the fields that every answer has in both dialects,
 * as the clients of OpenAI and Anthropic read them.
 */
export function answerSchemas() {
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
      ...{ id: TEXT, object: constant('response'), created_at: COUNT, model: TEXT },
      status: {
        enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'],
      },
      output: listOf(record({ type: TEXT })),
      usage: orNull(OF_TOKENS),
    }),
    InputTokens: record({ object: constant('response.input_tokens'), input_tokens: COUNT }),
    Message: record({
      ...{ id: TEXT, type: constant('message'), role: constant('assistant'), model: TEXT },
      content: listOf(record({ type: TEXT })),
      stop_reason: { type: ['string', 'null'] },
      usage: OF_TOKENS,
    }),
    MessageTokens: record({ input_tokens: COUNT }),
    EmbeddingList: record({
      ...{ object: constant('list'), model: TEXT },
      data: listOf(record({ index: COUNT, embedding: ANY })),
      usage: record({ prompt_tokens: COUNT, total_tokens: COUNT }),
    }),
    ModelList: record({ object: constant('list'), data: listOf(MODEL) }),
    Model: MODEL,
    Tokens: record({ count: COUNT, max_model_len: COUNT, tokens: listOf(COUNT) }),
    Text: record({ prompt: TEXT }),
    Version: record({ version: TEXT }),
    Conversation: record({
      ...{ id: TEXT, object: constant('conversation'), created_at: COUNT },
      metadata: { type: 'object' },
    }),
    List: record({
      ...{ object: constant('list'), data: listOf({ type: 'object' }) },
      ...{ first_id: orNull(TEXT), last_id: orNull(TEXT), has_more: { type: 'boolean' } },
    }),
    Deleted: record({ id: TEXT, object: TEXT, deleted: { const: true } }),
  } satisfies Record<string, JsonSchema>;
}
