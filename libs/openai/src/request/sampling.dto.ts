import { outside } from '../refusal/openai-faults';
import { pythonFloat } from '../refusal/python-text';
import { type ValueFault } from '../refusal/request-error';
import { sizeFaultOfKvParams } from '../kv-params-size';
import { ForEngine, Is, Within } from './rules';
import {
  anyOf,
  BOOLEAN,
  INTEGER,
  arrayOf,
  mapOf,
  NUMBER,
  OBJECT,
  recordOf,
  STRING,
  TOKEN_ID,
} from './shapes';

type Complaint = Omit<ValueFault, 'field'> | undefined;

const MAX_STOP_STRINGS = 4;
/** The event loop compares every token with them. */
const MAX_STOP_TOKEN_IDS = 1_024;
const EMPTY_STRING = { code: 'empty_string', bound: 1, got: 0 } as const;
/** vLLM's VLLM_MAX_N_SEQUENCES. */
const MAX_CHOICES = 16_384;

const PENALTY = { minimum: -2, maximum: 2 };

function penalty(name: string) {
  return (value: number): Complaint =>
    value >= -2 && value <= 2
      ? undefined
      : {
          message: `${name} must be in [-2, 2], got ${pythonFloat(value)}.`,
          beyond: outside('decimal', value, [-2, 2]),
        };
}

/**
 * A fault with parameter and value, as vLLM writes it for temperature, top_p and the token limits.
 */
function named(message: string, value: number): NonNullable<Complaint> {
  return { message, named: true, value: pythonFloat(value) };
}

function temperatureRange(value: number): Complaint {
  const beyond = outside('decimal', value, [0, 2]);
  if (beyond === undefined) return undefined;
  const range = value < 0 ? 'non-negative' : 'in [0, 2]';
  const message = `temperature must be ${range}, got ${pythonFloat(value)}.`;
  return { ...named(message, value), beyond };
}

function topPRange(value: number): Complaint {
  if (value > 0 && value <= 1) return undefined;
  const message = `top_p must be in (0, 1], got ${pythonFloat(value)}.`;
  return { ...named(message, value), beyond: outside('decimal', value, [0, 1]) };
}

/** The range of a field that limits the output. 0 is refused later, except with `echo`. */
export function limitRange(value: number): Complaint {
  if (value >= 0) return undefined;
  const message = `max_tokens must be at least 1, got ${value}.`;
  return { message, named: true, value, beyond: outside('integer', value, [1, Infinity]) };
}

function stopRange(value: string | readonly string[]): Complaint {
  const strings = typeof value === 'string' ? [value] : value;
  return strings.some((string) => string === '')
    ? { message: 'stop cannot contain an empty string.', beyond: EMPTY_STRING }
    : undefined;
}

function topKRange(value: number): Complaint {
  if (value >= -1) return undefined;
  return { message: `top_k must be 0 (disable), or at least 1, got ${value}.` };
}

function choicesRange(value: number): Complaint {
  const beyond = outside('integer', value, [1, MAX_CHOICES]);
  if (beyond === undefined) return undefined;
  const bound = value < 1 ? 'at least 1' : `at most ${MAX_CHOICES}`;
  return { message: `n must be ${bound}, got ${value}.`, beyond };
}

/** vLLM's VLLM_MAX_NUM_BAD_WORDS. */
const MAX_BAD_WORDS = 128;
const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority'];

function serviceTierRange(value: string): Complaint {
  if (SERVICE_TIERS.includes(value)) return undefined;
  const tiers = SERVICE_TIERS.map((tier) => `'${tier}'`).join(', ');
  return { message: `service_tier must be one of ${tiers}, got '${value.slice(0, 100)}'.` };
}

/** `best_of` must be at least `n`. */
function bestOfRange(value: number, body: SamplingDto): Complaint {
  const shown = body.n ?? 1;
  if (value < 1) return { message: `best_of must be at least 1, got ${value}.` };
  if (value > MAX_CHOICES)
    return { message: `best_of must be at most ${MAX_CHOICES}, got ${value}.` };
  return value < shown
    ? {
        message: `best_of must be greater than or equal to n, got n=${shown} and best_of=${value}.`,
      }
    : undefined;
}

function truncationRange(value: number): Complaint {
  if (value === -1 || value >= 1) return undefined;
  const message = `truncate_prompt_tokens must be -1 or at least 1, got ${value}.`;
  return { message, named: true, value };
}

const FORMAT = recordOf({
  type: { shape: STRING, isRequired: true },
  json_schema: { shape: OBJECT },
});

export interface FormatField {
  readonly type: string;
  readonly json_schema?: Readonly<Record<string, unknown>> | null;
}

const STREAM_OPTIONS = recordOf({
  include_usage: { shape: BOOLEAN },
  continuous_usage_stats: { shape: BOOLEAN },
});

/**
 * The fields that both endpoints support. Fields that are missing here and in the subclasses are
 * accepted and ignored.
 */
export class SamplingDto {
  @Is(STRING)
  model?: string | null;

  @Is(INTEGER)
  @Within(limitRange, { minimum: 0 })
  max_tokens?: number | null;

  @Is(INTEGER)
  @Within(
    (value: number) =>
      value < 0
        ? { message: `min_tokens must be greater than or equal to 0, got ${value}.` }
        : undefined,
    { minimum: 0 },
  )
  min_tokens?: number | null;

  @Is(INTEGER)
  @Within(choicesRange, { minimum: 1, maximum: MAX_CHOICES })
  n?: number | null;

  @Is(INTEGER)
  @Within(bestOfRange, { minimum: 1, maximum: MAX_CHOICES })
  best_of?: number | null;

  @Is(NUMBER)
  @Within(temperatureRange, { minimum: 0, maximum: 2 })
  temperature?: number | null;

  @Is(NUMBER)
  @Within(topPRange, { exclusiveMinimum: 0, maximum: 1 })
  top_p?: number | null;

  @Is(INTEGER)
  @Within(topKRange, { minimum: -1 })
  top_k?: number | null;

  @Is(NUMBER)
  @Within(
    (value: number) =>
      value >= 0 && value <= 1
        ? undefined
        : { message: `min_p must be in [0, 1], got ${pythonFloat(value)}.` },
    { minimum: 0, maximum: 1 },
  )
  min_p?: number | null;

  @Is(NUMBER)
  @Within(penalty('frequency_penalty'), PENALTY)
  frequency_penalty?: number | null;

  @Is(NUMBER)
  @Within(penalty('presence_penalty'), PENALTY)
  presence_penalty?: number | null;

  @Is(NUMBER)
  @Within(
    (value: number) =>
      value > 0
        ? undefined
        : { message: `repetition_penalty must be greater than zero, got ${pythonFloat(value)}.` },
    { exclusiveMinimum: 0 },
  )
  repetition_penalty?: number | null;

  @Is(INTEGER)
  seed?: number | null;

  @Is(anyOf(STRING, arrayOf(STRING, MAX_STOP_STRINGS)))
  @Within(stopRange)
  stop?: string | readonly string[] | null;

  @Is(arrayOf(INTEGER, MAX_STOP_TOKEN_IDS))
  stop_token_ids?: readonly number[] | null;

  @Is(BOOLEAN)
  include_stop_str_in_output?: boolean | null;

  @Is(mapOf(NUMBER))
  logit_bias?: Readonly<Record<string, number>> | null;

  @Is(arrayOf(STRING, MAX_BAD_WORDS))
  @Within((value: readonly string[]) =>
    value.includes('') ? { message: 'bad_words cannot contain an empty string.' } : undefined,
  )
  bad_words?: readonly string[] | null;

  @Is(arrayOf(INTEGER))
  allowed_token_ids?: readonly number[] | null;

  @Is(FORMAT)
  response_format?: FormatField | null;

  @Is(OBJECT)
  structured_outputs?: Readonly<Record<string, unknown>> | null;

  @Is(anyOf(STRING, OBJECT))
  guided_json?: string | Readonly<Record<string, unknown>> | null;

  @Is(STRING)
  guided_regex?: string | null;

  @Is(arrayOf(STRING))
  guided_choice?: readonly string[] | null;

  @Is(STRING)
  guided_grammar?: string | null;

  @Is(STRING)
  guided_whitespace_pattern?: string | null;

  @Is(INTEGER)
  @Within(truncationRange, { minimum: -1, not: { const: 0 } })
  truncate_prompt_tokens?: number | null;

  @Is(STRING)
  @Within(
    (value: string) =>
      value === 'left' || value === 'right'
        ? undefined
        : { message: "truncation_side must be 'left' or 'right'." },
    { enum: ['left', 'right'] },
  )
  truncation_side?: 'left' | 'right' | null;

  @Is(BOOLEAN)
  ignore_eos?: boolean | null;

  @Is(BOOLEAN)
  echo?: boolean | null;

  @Is(BOOLEAN)
  stream?: boolean | null;

  @Is(STREAM_OPTIONS)
  @Within((_value: object, body: SamplingDto) =>
    body.stream === true
      ? undefined
      : { message: 'Stream options can only be defined when `stream=True`.', named: true },
  )
  stream_options?: {
    readonly include_usage?: boolean | null;
    readonly continuous_usage_stats?: boolean | null;
  } | null;

  @Is(INTEGER)
  @Within((_value: number, body: SamplingDto) =>
    body.stream === true
      ? { message: '`prompt_logprobs` are not available when `stream=True`.', named: true }
      : undefined,
  )
  prompt_logprobs?: number | null;

  @Is(BOOLEAN)
  return_token_ids?: boolean | null;

  @Is(BOOLEAN)
  return_tokens_as_token_ids?: boolean | null;

  @Is(OBJECT)
  @Within(sizeFaultOfKvParams)
  kv_transfer_params?: Readonly<Record<string, unknown>> | null;

  @Is(INTEGER)
  priority?: number | null;

  @Is(NUMBER)
  @Within(
    (value: number) =>
      value >= 0 && value <= 1
        ? undefined
        : { message: `cache_hit_threshold must be in [0, 1], got ${pythonFloat(value)}.` },
    { minimum: 0, maximum: 1 },
  )
  @ForEngine('cacheHitThreshold')
  cache_hit_threshold?: number | null;

  @Is(STRING)
  request_id?: string | null;

  @Is(STRING)
  @Within((value: string) =>
    value === '' ? { message: 'cache_salt must be a non-empty string.', named: true } : undefined,
  )
  cache_salt?: string | null;

  @Is(STRING)
  @Within(serviceTierRange, { enum: SERVICE_TIERS })
  service_tier?: string | null;

  @Is(STRING)
  user?: string | null;
}

export const TOKEN_IDS = arrayOf(TOKEN_ID);
