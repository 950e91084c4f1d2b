import { isObject } from '@baton/kernel';
import {
  type Complaint,
  engineFields,
  FIELDS_WITHOUT_EFFECT,
  GUIDED_FIELDS,
  Holds,
  Is,
  Nested,
  OrText,
  type OwnType,
  RefusesUnknown,
  SamplingFields,
  wrongItem,
} from '@baton/openai';
import {
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';

const MAX_METADATA = { pairs: 16, key: 64, value: 512 };
const INCLUDABLE = new Set([
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
]);

export function metadataRange(value: Readonly<Record<string, unknown>>): Complaint | undefined {
  const pairs = Object.entries(value);
  if (pairs.length > MAX_METADATA.pairs) {
    return {
      message: `metadata must have at most ${MAX_METADATA.pairs} pairs, got ${pairs.length}.`,
      beyond: {
        code: 'object_above_max_properties',
        bound: MAX_METADATA.pairs,
        got: pairs.length,
      },
    };
  }
  return pairs.map(([key, text]) => pairRange(key, text)).find((one) => one !== undefined);
}

function pairRange(key: string, text: unknown): Complaint | undefined {
  const shown = key.slice(0, MAX_METADATA.key);
  if (key.length > MAX_METADATA.key) {
    return {
      message: `metadata keys must have at most ${MAX_METADATA.key} characters: '${shown}…'.`,
      beyond: {
        code: 'property_name_above_max_length',
        bound: MAX_METADATA.key,
        got: key.length,
      },
    };
  }
  if (typeof text !== 'string') return { message: `metadata['${shown}'] must be a string.` };
  if (text.length <= MAX_METADATA.value) return undefined;
  const code = 'string_above_max_length';
  return {
    message: `metadata['${shown}'] must have at most ${MAX_METADATA.value} characters.`,
    beyond: { code, bound: MAX_METADATA.value, got: text.length, within: `.${shown}` },
  };
}

function includeRange(value: readonly string[]): Complaint | undefined {
  const unknown = value.find((one) => !INCLUDABLE.has(one));
  return unknown === undefined
    ? undefined
    : { message: `include has the unknown value '${unknown.slice(0, 100)}'.` };
}

function conversationRange(value: unknown): Complaint | undefined {
  const id = isObject(value) ? value['id'] : value;
  return typeof id === 'string' ? undefined : { message: 'conversation must have an id.' };
}

export interface TextFormatField {
  readonly type: string;
  readonly name?: unknown;
  readonly schema?: unknown;
  readonly strict?: unknown;
  readonly description?: unknown;
}

class TextFormat implements TextFormatField {
  @IsDefined() @IsString() type!: string;

  name?: unknown;
  schema?: unknown;
  strict?: unknown;
  description?: unknown;
}

class TextField {
  @Nested(TextFormat) format?: TextFormatField | null;
  @IsString() verbosity?: string | null;
}

class ReasoningField {
  @IsString() effort?: string | null;
  @IsString() summary?: string | null;
}

/** vLLM's own fields, with the same meaning as in a chat. */
export const CHAT_FIELDS = [
  ...engineFields(SamplingFields),
  ...['model', 'stream', 'temperature', 'presence_penalty', 'frequency_penalty', 'service_tier'],
  ...['kv_transfer_params', 'cache_salt', 'priority', 'request_id', 'seed', 'ignore_eos', 'top_k'],
  ...['min_p', 'min_tokens', 'repetition_penalty', 'parallel_tool_calls'],
  ...['stop', 'stop_token_ids', 'include_stop_str_in_output', 'logit_bias', 'bad_words'],
  ...['allowed_token_ids', 'structured_outputs', 'truncate_prompt_tokens', 'thinking_token_budget'],
  ...GUIDED_FIELDS,
];

/**
 * Further fields that a response may have: OpenAI's and vLLM's
 * (vllm/entrypoints/openai/responses/protocol.py), and those of other endpoints that are checked.
 */
const FURTHER_FIELDS: ReadonlySet<string> = new Set([
  ...CHAT_FIELDS,
  ...FIELDS_WITHOUT_EFFECT,
  ...['context_management', 'moderation', 'prompt', 'prompt_cache_options', 'stream_options'],
  ...['prompt_cache_retention', 'enable_response_messages', 'include_stop_str_in_output'],
  ...['logit_bias', 'mm_processor_kwargs', 'previous_input_messages', 'skip_special_tokens'],
  ...['spaces_between_special_tokens', 'vllm_xargs', 'n', 'best_of', 'echo', 'verbosity'],
  ...['media_io_kwargs', 'return_tokens_as_token_ids', 'session_id', 'structured_outputs'],
]);

const INPUT: OwnType = {
  expected: 'a string or an array of objects',
  schema: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
  fits: (value) => typeof value === 'string' || (Array.isArray(value) && value.every(isObject)),
  isUnion: true,
  wrongIn: (value) => wrongItem(value, { expected: 'an object', fits: isObject }),
};

/** A response that continues another one or a conversation may have no input of its own. */
function isContinuing({ previous_response_id, conversation }: CreateResponse): boolean {
  return (previous_response_id ?? conversation ?? null) !== null;
}

/** A stored prompt, which is refused by its name, would stand for the input. */
function needsInput(body: CreateResponse & { readonly prompt?: unknown }): boolean {
  return (body.input ?? null) !== null || !(isContinuing(body) || isObject(body.prompt));
}

function inputFault(
  value: string | readonly object[],
  body: CreateResponse,
): Complaint | undefined {
  if (value.length > 0 || isContinuing(body)) return undefined;
  const code = typeof value === 'string' ? 'empty_string' : 'empty_array';
  return { message: '', beyond: { code, bound: 1, got: 0 } };
}

/** Body of POST /v1/responses. */
@RefusesUnknown(FURTHER_FIELDS)
export class CreateResponse {
  @IsString() model?: string | null;

  @ValidateIf(needsInput)
  @IsDefined()
  @Holds(inputFault)
  @Is(INPUT)
  input?: string | readonly Readonly<Record<string, unknown>>[] | null;

  @IsString() instructions?: string | null;

  @Holds((_value, { conversation }: CreateResponse) =>
    conversation === undefined || conversation === null
      ? undefined
      : { message: 'previous_response_id cannot be used together with conversation.' },
  )
  @IsString()
  previous_response_id?: string | null;

  @Holds(conversationRange) conversation?: string | Readonly<Record<string, unknown>> | null;
  @IsBoolean() store?: boolean | null;

  @Holds((value, { store }: CreateResponse) =>
    value === true && store === false ? { message: 'background needs store.' } : undefined,
  )
  @IsBoolean()
  background?: boolean | null;

  @IsBoolean() stream?: boolean | null;
  @IsArray() @IsObject({ each: true }) tools?: readonly Readonly<Record<string, unknown>>[] | null;
  @OrText() @IsObject() tool_choice?: string | Readonly<Record<string, unknown>> | null;
  @IsBoolean() parallel_tool_calls?: boolean | null;
  @IsInt() max_output_tokens?: number | null;
  @IsInt() @Min(1) max_tool_calls?: number | null;
  @IsNumber() @Min(0) @Max(2) temperature?: number | null;
  @IsNumber() @Min(0) @Max(1) top_p?: number | null;
  @IsNumber() @Min(-2) @Max(2) presence_penalty?: number | null;
  @IsNumber() @Min(-2) @Max(2) frequency_penalty?: number | null;
  @IsInt() @Min(0) @Max(20) top_logprobs?: number | null;
  @IsString() @IsIn(['auto', 'disabled']) truncation?: 'auto' | 'disabled' | null;
  @Nested(ReasoningField) reasoning?: ReasoningField | null;
  @Nested(TextField) text?: TextField | null;
  @Holds(metadataRange) @IsObject() metadata?: Readonly<Record<string, string>> | null;
  @Holds(includeRange) @IsArray() @IsString({ each: true }) include?: readonly string[] | null;
  @IsString() service_tier?: string | null;
  @IsString() safety_identifier?: string | null;
  @IsString() prompt_cache_key?: string | null;
  @IsString() user?: string | null;
}
