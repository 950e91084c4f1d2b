import {
  ArrayMaxSize,
  ArrayNotContains,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsPositive,
  IsString,
  Max,
  Min,
} from 'class-validator';
import {
  BY_SCHEMA,
  Holds,
  Is,
  NAMED,
  Nested,
  OrText,
  type OwnType,
  RefusesUnknown,
} from '../body/declare';
import { ForEngine } from '../body/for-engine';
import { INTEGER_LIST, NUMBERS_BY_NAME, TEXTS } from '../body/types';
import { sizeFaultOfKvParams } from '../kv-params-size';
import type { Complaint } from '../refusal/request-error';

const MAX_STOP_STRINGS = 4;
/** The event loop compares every token with them. */
const MAX_STOP_TOKEN_IDS = 1_024;
/** vLLM's VLLM_MAX_N_SEQUENCES. */
const MAX_CHOICES = 16_384;
/** vLLM's VLLM_MAX_NUM_BAD_WORDS. */
const MAX_BAD_WORDS = 128;
const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority'];
const INT64_END = 2 ** 63;
const INT64_SCHEMA = { minimum: -INT64_END, exclusiveMaximum: INT64_END };

/** The number is a signed integer of 64 bits, which a number of JavaScript cannot show in full. */
export function InInt64(): PropertyDecorator {
  return (target, property) => {
    const message =
      `Invalid '${String(property)}': expected an integer from -9223372036854775808 to ` +
      '9223372036854775807.';
    const check = (value: number): Complaint | undefined =>
      value >= -INT64_END && value < INT64_END ? undefined : { message };
    Holds(check, { ...BY_SCHEMA, schema: INT64_SCHEMA })(target, property);
  };
}

const STOP: OwnType = {
  ...TEXTS,
  schema: {
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' }, maxItems: MAX_STOP_STRINGS },
    ],
  },
};

function stopCountFault(value: string | readonly string[]): Complaint | undefined {
  if (typeof value === 'string' || value.length <= MAX_STOP_STRINGS) return undefined;
  const [bound, got] = [MAX_STOP_STRINGS, value.length];
  return { message: '', beyond: { code: 'array_above_max_length', bound, got } };
}

function stopFault(value: string | readonly string[]): Complaint | undefined {
  if (value !== '' && (typeof value === 'string' || !value.includes(''))) return undefined;
  return { message: '', beyond: { code: 'empty_string', bound: 1, got: 0 } };
}

function bestOfFault(value: number, body: SamplingFields): Complaint | undefined {
  const shown = body.n ?? 1;
  if (value >= shown) return undefined;
  const message = `best_of must be greater than or equal to n, got n=${shown} and best_of=${value}.`;
  return { message };
}

function truncationFault(value: number): Complaint | undefined {
  if (value === -1 || value >= 1) return undefined;
  return { message: `truncate_prompt_tokens must be -1 or at least 1, got ${value}.` };
}

export interface FormatField {
  readonly type: string;
  readonly json_schema?: Readonly<Record<string, unknown>> | null;
}

/** Its other fields are those of a structural tag. */
class Format implements FormatField {
  @IsDefined() @IsString() type!: string;
  @IsObject() json_schema?: Readonly<Record<string, unknown>> | null;
}

/** OpenAI's `include_obfuscation` has no effect. */
@RefusesUnknown(new Set(['include_obfuscation']))
class StreamOptions {
  @IsBoolean() include_usage?: boolean | null;
  @IsBoolean() continuous_usage_stats?: boolean | null;
}

/** The fields of chats and completions. */
export class SamplingFields {
  @IsString() model?: string | null;
  @IsInt() @Min(0) min_tokens?: number | null;
  @IsInt() @Min(1) @Max(MAX_CHOICES) n?: number | null;
  @Holds(bestOfFault) @IsInt() @Min(1) @Max(MAX_CHOICES) best_of?: number | null;
  @IsNumber() @Min(0, NAMED) @Max(2, NAMED) temperature?: number | null;
  @IsNumber() @IsPositive(NAMED) @Max(1, NAMED) top_p?: number | null;
  @IsInt() @Min(-1) top_k?: number | null;
  @IsNumber() @Min(0) @Max(1) min_p?: number | null;
  @IsNumber() @Min(-2) @Max(2) frequency_penalty?: number | null;
  @IsNumber() @Min(-2) @Max(2) presence_penalty?: number | null;
  @IsNumber() @IsPositive() repetition_penalty?: number | null;
  @InInt64() @IsInt() seed?: number | null;

  @Holds(stopFault)
  @Holds(stopCountFault, BY_SCHEMA)
  @Is(STOP)
  stop?: string | readonly string[] | null;

  @IsArray()
  @IsInt({ each: true })
  @ArrayMaxSize(MAX_STOP_TOKEN_IDS, BY_SCHEMA)
  stop_token_ids?: readonly number[] | null;

  @IsBoolean() include_stop_str_in_output?: boolean | null;
  @Is(NUMBERS_BY_NAME) logit_bias?: Readonly<Record<string, number>> | null;

  @IsArray()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_BAD_WORDS, BY_SCHEMA)
  @ArrayNotContains([''])
  bad_words?: readonly string[] | null;

  @Is(INTEGER_LIST) allowed_token_ids?: readonly number[] | null;
  @Nested(Format) response_format?: FormatField | null;
  @IsObject() structured_outputs?: Readonly<Record<string, unknown>> | null;
  @OrText() @IsObject() guided_json?: string | Readonly<Record<string, unknown>> | null;
  @IsString() guided_regex?: string | null;
  @IsArray() @IsString({ each: true }) guided_choice?: readonly string[] | null;
  @IsString() guided_grammar?: string | null;
  @IsString() guided_whitespace_pattern?: string | null;

  @Holds(truncationFault, { ...NAMED, schema: { minimum: -1, not: { const: 0 } } })
  @IsInt()
  truncate_prompt_tokens?: number | null;

  @IsString() @IsIn(['left', 'right']) truncation_side?: 'left' | 'right' | null;
  @IsBoolean() ignore_eos?: boolean | null;
  @IsBoolean() echo?: boolean | null;
  @IsBoolean() stream?: boolean | null;

  @Holds(
    (_value, { stream }: SamplingFields) =>
      stream === true
        ? undefined
        : { message: 'Stream options can only be defined when `stream=True`.' },
    NAMED,
  )
  @Nested(StreamOptions)
  stream_options?: StreamOptions | null;

  @Holds(
    (_value, { stream }: SamplingFields) =>
      stream === true
        ? { message: '`prompt_logprobs` are not available when `stream=True`.' }
        : undefined,
    NAMED,
  )
  @IsInt()
  prompt_logprobs?: number | null;

  @IsBoolean() return_token_ids?: boolean | null;
  @IsBoolean() return_tokens_as_token_ids?: boolean | null;

  @Holds(sizeFaultOfKvParams)
  @IsObject()
  kv_transfer_params?: Readonly<Record<string, unknown>> | null;

  @IsInt() priority?: number | null;
  @IsNumber() @Min(0) @Max(1) @ForEngine('cacheHitThreshold') cache_hit_threshold?: number | null;
  @IsString() request_id?: string | null;
  @IsString() @IsNotEmpty(NAMED) cache_salt?: string | null;
  @IsString() @IsIn(SERVICE_TIERS) service_tier?: string | null;
  @IsString() user?: string | null;
}
