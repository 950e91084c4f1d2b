import { isObject } from '@baton/kernel';
import {
  anyOf,
  arrayOf,
  BOOLEAN,
  type BoundFault,
  INTEGER,
  Is,
  NUMBER,
  OBJECT,
  outside,
  pythonFloat,
  recordOf,
  STRING,
  Within,
} from '@baton/openai';

type Complaint = { readonly message: string; readonly beyond?: BoundFault } | undefined;

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

function between(kind: 'integer' | 'decimal', low: number, high: number) {
  return (value: number): Complaint => {
    const beyond = outside(kind, value, [low, high]);
    if (beyond === undefined) return undefined;
    return { message: `must be in [${low}, ${high}], got ${pythonFloat(value)}.`, beyond };
  };
}

export function metadataRange(value: Readonly<Record<string, unknown>>): Complaint {
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

function pairRange(key: string, text: unknown): Complaint {
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

function includeRange(value: readonly string[]): Complaint {
  const unknown = value.find((one) => !INCLUDABLE.has(one));
  return unknown === undefined
    ? undefined
    : { message: `include has the unknown value '${unknown.slice(0, 100)}'.` };
}

function conversationRange(value: unknown): Complaint {
  const id = isObject(value) ? value['id'] : value;
  return typeof id === 'string' ? undefined : { message: 'conversation must have an id.' };
}

const FORMAT = recordOf({ type: { shape: STRING, isRequired: true } });

export interface TextFormatField {
  readonly type: string;
  readonly name?: unknown;
  readonly schema?: unknown;
  readonly strict?: unknown;
  readonly description?: unknown;
}

/** Body of POST /v1/responses. Other fields are accepted and ignored. */
export class ResponsesDto {
  @Is(STRING)
  model?: string | null;

  @Is(anyOf(STRING, arrayOf(OBJECT)))
  input?: string | readonly Readonly<Record<string, unknown>>[] | null;

  @Is(STRING)
  instructions?: string | null;

  @Is(STRING)
  @Within((_value: string, body: ResponsesDto) =>
    body.conversation === undefined || body.conversation === null
      ? undefined
      : { message: 'previous_response_id cannot be used together with conversation.' },
  )
  previous_response_id?: string | null;

  @Is(anyOf(STRING, OBJECT))
  @Within(conversationRange)
  conversation?: string | Readonly<Record<string, unknown>> | null;

  @Is(BOOLEAN)
  store?: boolean | null;

  @Is(BOOLEAN)
  @Within((value: boolean, body: ResponsesDto) =>
    value && body.store === false ? { message: 'background needs store.' } : undefined,
  )
  background?: boolean | null;

  @Is(BOOLEAN)
  stream?: boolean | null;

  @Is(arrayOf(OBJECT))
  tools?: readonly Readonly<Record<string, unknown>>[] | null;

  @Is(anyOf(STRING, OBJECT))
  tool_choice?: string | Readonly<Record<string, unknown>> | null;

  @Is(BOOLEAN)
  parallel_tool_calls?: boolean | null;

  @Is(INTEGER)
  max_output_tokens?: number | null;

  @Is(INTEGER)
  @Within((value: number) =>
    value < 1
      ? {
          message: `max_tool_calls must be at least 1, got ${value}.`,
          beyond: { code: 'integer_below_min_value', bound: 1, got: value },
        }
      : undefined,
  )
  max_tool_calls?: number | null;

  @Is(NUMBER)
  @Within(named('temperature', between('decimal', 0, 2)))
  temperature?: number | null;

  @Is(NUMBER)
  @Within(named('top_p', between('decimal', 0, 1)))
  top_p?: number | null;

  @Is(NUMBER)
  @Within(named('presence_penalty', between('decimal', -2, 2)))
  presence_penalty?: number | null;

  @Is(NUMBER)
  @Within(named('frequency_penalty', between('decimal', -2, 2)))
  frequency_penalty?: number | null;

  @Is(INTEGER)
  @Within(named('top_logprobs', between('integer', 0, 20)))
  top_logprobs?: number | null;

  @Is(STRING)
  @Within((value: string) =>
    value === 'auto' || value === 'disabled'
      ? undefined
      : { message: "truncation must be 'auto' or 'disabled'." },
  )
  truncation?: 'auto' | 'disabled' | null;

  @Is(recordOf({ effort: { shape: STRING }, summary: { shape: STRING } }))
  reasoning?: { readonly effort?: string | null; readonly summary?: string | null } | null;

  @Is(recordOf({ format: { shape: FORMAT }, verbosity: { shape: STRING } }))
  text?: { readonly format?: TextFormatField | null; readonly verbosity?: string | null } | null;

  @Is(OBJECT)
  @Within(metadataRange)
  metadata?: Readonly<Record<string, string>> | null;

  @Is(arrayOf(STRING))
  @Within(includeRange)
  include?: readonly string[] | null;

  @Is(STRING)
  service_tier?: string | null;

  @Is(STRING)
  safety_identifier?: string | null;

  @Is(STRING)
  prompt_cache_key?: string | null;

  @Is(STRING)
  user?: string | null;
}

function named(name: string, check: (value: number) => Complaint): (value: number) => Complaint {
  return (value) => {
    const complaint = check(value);
    return complaint && { ...complaint, message: `${name} ${complaint.message}` };
  };
}
