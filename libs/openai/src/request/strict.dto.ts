import type { SchemaFault } from '../refusal/schema-error';
import { ChatDto } from './chat.dto';
import { CompletionDto } from './completion.dto';
import { declareField } from './rules';
import {
  anyOf,
  BOOLEAN,
  INTEGER,
  arrayOf,
  mapOf,
  NUMBER,
  OBJECT,
  type Shape,
  STRING,
} from './shapes';

/** vLLM's VLLM_MAX_LOGPROB_TOKEN_IDS. */
const MAX_LOGPROB_TOKEN_IDS = 128;

/** An integer whose minimum is part of its schema, so a failure has pydantic's form. */
function integerFrom(ge: number): Shape<number> {
  const check = (input: unknown): readonly SchemaFault[] => {
    const faults = INTEGER.check(input);
    if (faults.length > 0 || (input as number) >= ge) return faults;
    const message = `Input should be greater than or equal to ${ge}`;
    const fault = { type: 'greater_than_equal', message, context: { ge } };
    return [{ ...fault, place: [], location: [], input, expected: INTEGER.expected }];
  };
  return { ...INTEGER, schema: { type: 'integer', minimum: ge }, check };
}

type Fields = Readonly<Record<string, Shape>>;

/** Fields of vLLM's schema that Baton otherwise ignores, with their types. */
const SAMPLING: Fields = {
  use_beam_search: BOOLEAN,
  length_penalty: NUMBER,
  skip_special_tokens: BOOLEAN,
  spaces_between_special_tokens: BOOLEAN,
  add_special_tokens: BOOLEAN,
  logprob_token_ids: arrayOf(INTEGER, MAX_LOGPROB_TOKEN_IDS),
  session_id: STRING,
  return_token_offsets: BOOLEAN,
  ec_transfer_params: OBJECT,
  vllm_xargs: mapOf(anyOf(STRING, NUMBER, arrayOf(anyOf(STRING, NUMBER)))),
  repetition_detection: OBJECT,
  stream_interval: integerFrom(1),
  routed_experts_prompt_start: integerFrom(0),
};

const OF_COMPLETIONS: Fields = { ...SAMPLING, suffix: STRING };

const OF_CHAT: Fields = {
  ...SAMPLING,
  chat_template: STRING,
  media_io_kwargs: OBJECT,
  mm_processor_kwargs: OBJECT,
  return_assistant_tokens_mask: BOOLEAN,
};

/** Body of POST /v1/completions with the whole of vLLM's schema. */
export class StrictCompletionDto extends CompletionDto {
  readonly use_beam_search?: boolean | null;
}

/** Body of POST /v1/chat/completions with the whole of vLLM's schema. */
export class StrictChatDto extends ChatDto {
  readonly use_beam_search?: boolean | null;
}

for (const [field, shape] of Object.entries(OF_COMPLETIONS)) {
  declareField(StrictCompletionDto.prototype, field, { shape });
}
for (const [field, shape] of Object.entries(OF_CHAT)) {
  declareField(StrictChatDto.prototype, field, { shape });
}
