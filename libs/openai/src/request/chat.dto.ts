import { Is, Within } from './rules';
import { limitRange } from './sampling.dto';
import { anyOf, BOOLEAN, INTEGER, arrayOf, OBJECT, recordOf, STRING } from './shapes';
import { ToolsDto } from './tools.dto';

const EMPTY_ARRAY = { code: 'empty_array', bound: 1, got: 0 } as const;

const PART = recordOf({ type: { shape: STRING, isRequired: true } });

const CALL = recordOf({
  id: { shape: STRING },
  type: { shape: STRING },
  function: {
    shape: recordOf({ name: { shape: STRING }, arguments: { shape: anyOf(STRING, OBJECT) } }),
  },
  custom: { shape: recordOf({ name: { shape: STRING }, input: { shape: STRING } }) },
});

const MESSAGE = recordOf({
  role: { shape: STRING, isRequired: true },
  content: { shape: anyOf(STRING, arrayOf(PART)) },
  name: { shape: STRING },
  tool_call_id: { shape: STRING },
  tool_calls: { shape: arrayOf(CALL) },
  function_call: {
    shape: recordOf({ name: { shape: STRING }, arguments: { shape: anyOf(STRING, OBJECT) } }),
  },
  reasoning: { shape: STRING },
  reasoning_content: { shape: STRING },
});

export type ContentPart = Readonly<Record<string, unknown>> & { readonly type: string };

export interface CalledFunction {
  readonly name?: string | null;
  readonly arguments?: string | object | null;
}

export interface CallField {
  readonly function?: CalledFunction | null;
  readonly custom?: { readonly name?: string | null; readonly input?: string | null } | null;
}

export interface MessageField {
  readonly role: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly name?: string | null;
  readonly tool_call_id?: string | null;
  readonly tool_calls?: readonly CallField[] | null;
  readonly function_call?: CalledFunction | null;
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
}

/** Body of POST /v1/chat/completions. */
export class ChatDto extends ToolsDto {
  @Is(arrayOf(MESSAGE), { isRequired: true })
  @Within(
    (value: readonly MessageField[]) =>
      value.length === 0
        ? { message: 'messages must not be empty.', beyond: EMPTY_ARRAY }
        : undefined,
    { minItems: 1 },
  )
  messages!: readonly MessageField[];

  @Is(INTEGER)
  @Within(limitRange)
  max_completion_tokens?: number | null;

  @Is(BOOLEAN)
  logprobs?: boolean | null;

  @Is(INTEGER)
  @Within((value: number, body: ChatDto) =>
    value !== 0 && body.logprobs !== true
      ? { message: 'when using `top_logprobs`, `logprobs` must be set to true.', named: true }
      : undefined,
  )
  top_logprobs?: number | null;

  @Is(BOOLEAN)
  add_generation_prompt?: boolean | null;

  @Is(BOOLEAN)
  @Within((value: boolean, body: ChatDto) =>
    value && body.add_generation_prompt === true
      ? {
          message: 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.',
        }
      : undefined,
  )
  continue_final_message?: boolean | null;

  @Is(OBJECT)
  chat_template_kwargs?: Readonly<Record<string, unknown>> | null;

  @Is(arrayOf(OBJECT))
  documents?: readonly Readonly<Record<string, unknown>>[] | null;

  @Is(STRING)
  reasoning_effort?: string | null;

  @Is(BOOLEAN)
  include_reasoning?: boolean | null;

  @Is(INTEGER)
  @Within((value: number) =>
    value >= -1
      ? undefined
      : { message: `thinking_token_budget must be -1 or at least 0, got ${value}.` },
  )
  thinking_token_budget?: number | null;

  @Is(BOOLEAN)
  return_prompt_text?: boolean | null;
}
