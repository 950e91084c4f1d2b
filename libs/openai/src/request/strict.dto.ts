import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Min,
} from 'class-validator';
import { BY_SCHEMA, Is, type OwnType } from '../body/declare';
import { InInt64 } from './sampling.dto';

/** vLLM's VLLM_MAX_LOGPROB_TOKEN_IDS. */
const MAX_LOGPROB_TOKEN_IDS = 128;

const isPlain = (value: unknown): boolean => typeof value === 'string' || Number.isFinite(value);

const PLAIN = { anyOf: [{ type: 'string' }, { type: 'number' }] };

/** Arguments of vLLM's own extensions. */
const EXTRA_ARGUMENTS: OwnType = {
  expected: 'an object with strings, numbers or lists of them',
  schema: {
    type: 'object',
    additionalProperties: { anyOf: [...PLAIN.anyOf, { type: 'array', items: PLAIN }] },
  },
  fits: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => isPlain(one) || (Array.isArray(one) && one.every(isPlain))),
};

/** Fields of vLLM's schema that Baton ignores, with their types; checked only with `strict`. */
export class StrictCompletionFields {
  @InInt64() @IsInt() priority?: number | null;
  @IsBoolean() use_beam_search?: boolean | null;
  @IsNumber() length_penalty?: number | null;
  @IsBoolean() skip_special_tokens?: boolean | null;
  @IsBoolean() spaces_between_special_tokens?: boolean | null;
  @IsBoolean() add_special_tokens?: boolean | null;

  @IsArray()
  @IsInt({ each: true })
  @ArrayMaxSize(MAX_LOGPROB_TOKEN_IDS, BY_SCHEMA)
  logprob_token_ids?: readonly number[] | null;

  @IsString() session_id?: string | null;
  @IsBoolean() return_token_offsets?: boolean | null;
  @IsObject() ec_transfer_params?: object | null;
  @Is(EXTRA_ARGUMENTS) vllm_xargs?: object | null;
  @IsObject() repetition_detection?: object | null;
  @IsInt() @Min(1, BY_SCHEMA) stream_interval?: number | null;
  @IsInt() @Min(0, BY_SCHEMA) routed_experts_prompt_start?: number | null;
  @IsString() suffix?: string | null;
}

/** The same for chats. */
export class StrictChatFields extends StrictCompletionFields {
  @IsString() chat_template?: string | null;
  @IsObject() media_io_kwargs?: object | null;
  @IsObject() mm_processor_kwargs?: object | null;
  @IsBoolean() return_assistant_tokens_mask?: boolean | null;
}
