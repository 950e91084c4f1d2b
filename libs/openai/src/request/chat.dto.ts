import { Is, Within } from './rules';
import { SamplingDto } from './sampling.dto';
import { anyOf, BOOLEAN, INTEGER, listOf, OBJECT, recordOf, TEXT } from './shapes';

const PART = recordOf({ type: { shape: TEXT, isRequired: true } });

const MESSAGE = recordOf({
  role: { shape: TEXT, isRequired: true },
  content: { shape: anyOf(TEXT, listOf(PART)) },
  name: { shape: TEXT },
  tool_call_id: { shape: TEXT },
  tool_calls: { shape: listOf(OBJECT) },
});

export type ContentPart = Readonly<Record<string, unknown>> & { readonly type: string };

export interface MessageField {
  readonly role: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly name?: string | null;
  readonly tool_call_id?: string | null;
  readonly tool_calls?: readonly Readonly<Record<string, unknown>>[] | null;
}

/** Body of POST /v1/chat/completions. */
export class ChatDto extends SamplingDto {
  @Is(listOf(MESSAGE), { isRequired: true })
  @Within((value: readonly MessageField[]) =>
    value.length === 0 ? { message: 'messages must not be empty.' } : undefined,
  )
  messages!: readonly MessageField[];

  @Is(INTEGER)
  @Within((value: number) =>
    value < 0
      ? { message: `max_tokens must be at least 1, got ${value}.`, named: true, value }
      : undefined,
  )
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
}
