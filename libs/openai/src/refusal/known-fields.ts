import { isObject } from '@baton/kernel';
import type { Dialect } from './dialect';
import { RequestError } from './request-error';

/**
 * Fields without effect in Baton, by the project that documents them. A request with such a field
 * is served, because clients send them by default or to other servers.
 */
export const FIELDS_WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  // OpenAI's API reference of chat completions and completions.
  ...['audio', 'metadata', 'modalities', 'moderation', 'prediction', 'prompt_cache_key'],
  ...['prompt_cache_options', 'prompt_cache_retention', 'safety_identifier', 'store', 'suffix'],
  ...['verbosity', 'web_search_options'],
  // vLLM's CompletionRequest and ChatCompletionRequest (vllm/entrypoints/openai), also before 0.12.
  ...['add_special_tokens', 'chat_template', 'ec_transfer_params', 'guided_decoding_backend'],
  ...['length_penalty', 'logprob_token_ids', 'media_io_kwargs', 'mm_processor_kwargs'],
  ...['prompt_embeds', 'repetition_detection', 'return_assistant_tokens_mask'],
  ...['return_token_offsets', 'routed_experts_prompt_start', 'session_id', 'skip_special_tokens'],
  ...['spaces_between_special_tokens', 'stream_interval', 'use_beam_search', 'vllm_xargs'],
  // SGLang (python/sglang/srt/entrypoints/openai/protocol.py) and its routers.
  ...['bootstrap_host', 'bootstrap_port', 'bootstrap_room', 'custom_params', 'data_parallel_rank'],
  ...['no_stop_trim', 'return_cached_tokens_details', 'return_hidden_states', 'rid'],
  ...['separate_reasoning', 'session_params', 'stream_reasoning'],
  // TensorRT-LLM (tensorrt_llm/serve/openai_protocol.py) and NVIDIA Dynamo.
  ...['conversation_params', 'detokenize', 'disaggregated_params', 'nvext', 'prompt_token_ids'],
  // Fields of one endpoint that clients send to the other.
  ...['prompt', 'logprobs', 'messages', 'top_logprobs', 'max_completion_tokens', 'tools'],
]);

/**
 * The same below a field of a body, by the name of the field: of OpenAI's API reference, of answers
 * that its SDKs send back, and of LiteLLM, LangChain, OpenRouter, DeepSeek and Gemini.
 */
const INNER_FIELDS_WITHOUT_EFFECT: Readonly<Record<string, ReadonlySet<string>>> = {
  messages: new Set([
    ...['annotations', 'audio', 'cache_control', 'id', 'parsed', 'partial', 'prefix', 'refusal'],
    ...['provider_specific_fields', 'reasoning_details', 'status', 'thinking_blocks', 'type'],
  ]),
  tool_calls: new Set(['cache_control', 'extra_content', 'index', 'provider_specific_fields']),
  tools: new Set(['cache_control']),
  function: new Set(['cache_control', 'parsed_arguments', 'provider_specific_fields']),
  // OpenAI's; the other fields have an effect.
  stream_options: new Set(['include_obfuscation']),
};

/** Its parts have the fields of their types, which the reader of contents checks. */
const PARTS = 'content';

const NO_FIELDS: ReadonlySet<string> = new Set();

/** A JSON Schema; only the names of its fields count here. */
type FieldSchema = Readonly<Record<string, unknown>>;

/** The dialect, and whether the `openai` dialect ignores such fields too. */
export interface AnswerToUnknown {
  readonly dialect: Dialect;
  readonly acceptsUnknownFields?: boolean | undefined;
}

export interface KnownFields {
  /** The fields with an effect. */
  readonly declared: ReadonlyMap<string, { readonly schema: FieldSchema }>;
  /** Default: the fields without effect. */
  readonly more?: ReadonlySet<string>;
  /** The fields whose own fields are checked too. Default: `stream_options`. */
  readonly deep?: readonly string[];
}

/**
 * Refuses the first field that no server documents, as OpenAI does, since a misspelled field would
 * have no effect. vLLM and the vllm dialect ignore them.
 *
 * @param known fields with an effect, and further ones of the endpoint
 */
export function refuseUnknown(
  body: Readonly<Record<string, unknown>>,
  known: KnownFields,
  { dialect, acceptsUnknownFields }: AnswerToUnknown,
): void {
  const { declared, more = FIELDS_WITHOUT_EFFECT, deep = ['stream_options'] } = known;
  if (dialect !== 'openai' || acceptsUnknownFields === true) return;
  for (const field of Object.keys(body)) {
    if (!declared.has(field) && !more.has(field)) throw unknown(field.slice(0, 100));
  }
  for (const field of deep) {
    const shape = Object.hasOwn(body, field) ? declared.get(field) : undefined;
    const place = shape && unknownBelow(field, body[field], shape.schema);
    if (place !== undefined) throw unknown(`${field}${place}`);
  }
}

/** The place of the first unknown field in the value of `name`, relative to it: `[0].tool_cals`. */
function unknownBelow(name: string, value: unknown, schema: FieldSchema): string | undefined {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const place = unknownBelow(name, item, schema);
      if (place !== undefined) return `[${i}]${place}`;
    }
    return undefined;
  }
  const named = namedFields(schema);
  if (named.size === 0 || !isObject(value)) return undefined;
  const more = INNER_FIELDS_WITHOUT_EFFECT[name] ?? NO_FIELDS;
  for (const field of Object.keys(value)) {
    const inner = named.get(field);
    if (inner === undefined && !more.has(field)) return `.${field.slice(0, 100)}`;
    if (inner === undefined || field === PARTS) continue;
    const place = unknownBelow(field, value[field], inner);
    if (place !== undefined) return `.${field}${place}`;
  }
  return undefined;
}

const fieldsBySchema = new WeakMap<FieldSchema, ReadonlyMap<string, FieldSchema>>();

/** The fields that a schema, its branches or the items of its lists name. None: any may be set. */
function namedFields(schema: FieldSchema): ReadonlyMap<string, FieldSchema> {
  const known = fieldsBySchema.get(schema);
  if (known !== undefined) return known;
  const { items, anyOf = [], properties = {} } = schema as SchemaParts;
  const branches = items === undefined ? anyOf : [...anyOf, items];
  const named = new Map(branches.flatMap((branch) => [...namedFields(branch)]));
  for (const [field, inner] of Object.entries(properties)) named.set(field, inner);
  fieldsBySchema.set(schema, named);
  return named;
}

/** The parts of a schema in which fields are named. */
interface SchemaParts {
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

function unknown(field: string): RequestError {
  const text = { message: `Unknown parameter: '${field}'.`, param: field };
  return new RequestError('invalid_value', { ...text, code: 'unknown_parameter' }, text);
}
