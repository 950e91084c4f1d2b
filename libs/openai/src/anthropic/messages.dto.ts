import {
  anyOf,
  arrayOf,
  BOOLEAN,
  INTEGER,
  NUMBER,
  OBJECT,
  recordOf,
  STRING,
} from '../request/shapes';
import { Is, Within } from '../request/rules';

/** vLLM's VLLM_MAX_STOP_STRINGS. */
const MAX_STOP_SEQUENCES = 4;
const ROLES: readonly string[] = ['user', 'assistant', 'system'];
const CHOICES: readonly string[] = ['auto', 'any', 'tool', 'none'];
const THINKING: readonly string[] = ['enabled', 'disabled', 'adaptive'];

const BLOCK = recordOf({ type: { shape: STRING, isRequired: true } });
const TEXT_BLOCK = recordOf({
  type: { shape: STRING, isRequired: true },
  text: { shape: STRING, isRequired: true },
});
const CONTENT = anyOf(STRING, arrayOf(BLOCK));

const MESSAGE = recordOf({
  role: { shape: STRING, isRequired: true },
  content: { shape: CONTENT, isRequired: true },
});

const TOOL = recordOf({
  type: { shape: STRING },
  name: { shape: STRING, isRequired: true },
  description: { shape: STRING },
  input_schema: { shape: OBJECT },
  strict: { shape: BOOLEAN },
});

export type Block = Readonly<Record<string, unknown>> & { readonly type: string };

export interface AnthropicMessageField {
  readonly role: string;
  readonly content: string | readonly Block[];
}

export interface AnthropicToolField {
  readonly type?: string | null;
  readonly name: string;
  readonly description?: string | null;
  readonly input_schema?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
}

/** Body of POST /v1/messages/count_tokens: the fields that /v1/messages has too. */
export class CountTokensDto {
  @Is(STRING)
  model?: string | null;

  @Is(arrayOf(MESSAGE), { isRequired: true })
  @Within((value: readonly AnthropicMessageField[]) => {
    if (value.length === 0) return { message: 'messages: at least one message is required' };
    const wrong = value.findIndex(({ role }) => !ROLES.includes(role));
    return wrong === -1
      ? undefined
      : { message: `messages.${wrong}.role: Input should be 'user', 'assistant' or 'system'` };
  })
  messages!: readonly AnthropicMessageField[];

  @Is(anyOf(STRING, arrayOf(TEXT_BLOCK)))
  system?: string | readonly { readonly text: string }[] | null;

  @Is(arrayOf(TOOL))
  tools?: readonly AnthropicToolField[] | null;

  @Is(
    recordOf({
      type: { shape: STRING, isRequired: true },
      name: { shape: STRING },
      disable_parallel_tool_use: { shape: BOOLEAN },
    }),
  )
  @Within((value: { readonly type: string; readonly name?: string | null }) => {
    if (!CHOICES.includes(value.type)) {
      return { message: "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'" };
    }
    return value.type === 'tool' && typeof value.name !== 'string'
      ? { message: 'tool_choice.tool.name: Field required' }
      : undefined;
  })
  tool_choice?: {
    readonly type: 'auto' | 'any' | 'tool' | 'none';
    readonly name?: string | null;
    readonly disable_parallel_tool_use?: boolean | null;
  } | null;

  @Is(recordOf({ type: { shape: STRING, isRequired: true }, budget_tokens: { shape: INTEGER } }))
  @Within((value: { readonly type: string; readonly budget_tokens?: number | null }) => {
    if (!THINKING.includes(value.type)) {
      return { message: "thinking.type: Input should be 'enabled', 'disabled' or 'adaptive'" };
    }
    return (value.budget_tokens ?? 1) >= 1
      ? undefined
      : { message: 'thinking.budget_tokens: Input should be greater than or equal to 1' };
  })
  thinking?: {
    readonly type: 'enabled' | 'disabled' | 'adaptive';
    readonly budget_tokens?: number | null;
  } | null;
}

/** Body of POST /v1/messages. Other fields are accepted and ignored. */
export class MessagesDto extends CountTokensDto {
  @Is(INTEGER, { isRequired: true })
  @Within((value: number) =>
    value >= 1 ? undefined : { message: 'max_tokens: Input should be greater than 0' },
  )
  max_tokens!: number;

  @Is(arrayOf(STRING, MAX_STOP_SEQUENCES))
  stop_sequences?: readonly string[] | null;

  @Is(BOOLEAN)
  stream?: boolean | null;

  @Is(NUMBER)
  temperature?: number | null;

  @Is(NUMBER)
  top_p?: number | null;

  @Is(INTEGER)
  top_k?: number | null;

  @Is(recordOf({ user_id: { shape: STRING } }))
  metadata?: { readonly user_id?: string | null } | null;

  @Is(
    recordOf({
      effort: { shape: STRING },
      format: {
        shape: recordOf({ type: { shape: STRING, isRequired: true }, schema: { shape: OBJECT } }),
      },
    }),
  )
  @Within((value: { readonly format?: { readonly type: string } | null }) =>
    (value.format?.type ?? 'json_schema') === 'json_schema'
      ? undefined
      : { message: "output_config.format.type: Input should be 'json_schema'" },
  )
  output_config?: {
    readonly effort?: string | null;
    readonly format?: {
      readonly type: string;
      readonly schema?: Readonly<Record<string, unknown>> | null;
    } | null;
  } | null;
}
