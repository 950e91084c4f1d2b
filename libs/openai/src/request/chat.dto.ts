import {
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsInt,
  IsObject,
  IsString,
  Min,
} from 'class-validator';
import { Holds, NAMED, Nested, OrText, RefusesUnknown } from '../body/declare';
import { FIELDS_WITHOUT_EFFECT } from '../refusal/fields-without-effect';
import { OF_FUNCTIONS, ToolFields } from './tools.dto';

// Fields without effect: of OpenAI's API reference, of answers that its SDKs send back, and of
// LiteLLM, LangChain, OpenRouter, DeepSeek and Gemini.
const OF_MESSAGES = new Set([
  ...['annotations', 'audio', 'cache_control', 'id', 'parsed', 'partial', 'prefix', 'refusal'],
  ...['provider_specific_fields', 'reasoning_details', 'status', 'thinking_blocks', 'type'],
]);
const OF_CALLS = new Set(['cache_control', 'extra_content', 'index', 'provider_specific_fields']);

/** Its other fields are those of its type, which the reader of contents checks. */
export class ContentPart {
  [field: string]: unknown;

  @IsDefined() @IsString() type!: string;
}

@RefusesUnknown(OF_FUNCTIONS)
export class CalledFunction {
  @IsString() name?: string | null;
  @OrText() @IsObject() arguments?: string | object | null;
}

@RefusesUnknown()
class CustomCall {
  @IsString() name?: string | null;
  @IsString() input?: string | null;
}

@RefusesUnknown(OF_CALLS)
export class CallField {
  @IsString() id?: string | null;
  @IsString() type?: string | null;
  @Nested(CalledFunction) function?: CalledFunction | null;
  @Nested(CustomCall) custom?: CustomCall | null;
}

@RefusesUnknown(OF_MESSAGES)
export class MessageField {
  @IsDefined() @IsString() role!: string;

  @OrText()
  @IsArray()
  @Nested(ContentPart, { each: true })
  content?: string | readonly ContentPart[] | null;

  @IsString() name?: string | null;
  @IsString() tool_call_id?: string | null;
  @IsArray() @Nested(CallField, { each: true }) tool_calls?: readonly CallField[] | null;
  @Nested(CalledFunction) function_call?: CalledFunction | null;
  @IsString() reasoning?: string | null;
  @IsString() reasoning_content?: string | null;
}

@RefusesUnknown(FIELDS_WITHOUT_EFFECT)
class ChatFields extends ToolFields {
  @IsDefined()
  @IsArray()
  @ArrayMinSize(1)
  @Nested(MessageField, { each: true })
  messages!: readonly MessageField[];

  @IsInt() @Min(1, NAMED) max_tokens?: number | null;
  @IsInt() @Min(1, NAMED) max_completion_tokens?: number | null;
  @IsBoolean() logprobs?: boolean | null;

  @Holds(
    (value, { logprobs }: ChatFields) =>
      value !== 0 && logprobs !== true
        ? { message: 'when using `top_logprobs`, `logprobs` must be set to true.' }
        : undefined,
    NAMED,
  )
  @IsInt()
  top_logprobs?: number | null;

  @IsBoolean() add_generation_prompt?: boolean | null;

  @Holds((value, { add_generation_prompt: isAdded }: ChatFields) =>
    value === true && isAdded === true
      ? {
          message: 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.',
        }
      : undefined,
  )
  @IsBoolean()
  continue_final_message?: boolean | null;

  @IsObject() chat_template_kwargs?: Readonly<Record<string, unknown>> | null;

  @IsArray()
  @IsObject({ each: true })
  documents?: readonly Readonly<Record<string, unknown>>[] | null;

  @IsString() reasoning_effort?: string | null;
  @IsBoolean() include_reasoning?: boolean | null;
  @IsInt() @Min(-1) thinking_token_budget?: number | null;
  @IsBoolean() return_prompt_text?: boolean | null;
}

/**
 * Body of POST /v1/chat/completions. It has no field of its own, because the library compares each
 * own field with each inherited one, for every body.
 */
export class ChatCompletionRequest extends ChatFields {}
