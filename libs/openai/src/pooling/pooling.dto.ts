import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsString, Min } from 'class-validator';
import { Holds, Is, RefusesUnknown } from '../body/declare';
import { PROMPTS } from '../body/types';

export type InputField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/**
 * The fields of all endpoints whose prompts generate no output. Fields that are missing here and in
 * the subclasses are ignored, or refused at /v1/embeddings in the `openai` dialect.
 */
export class PoolingFields {
  @IsString() model?: string | null;
  @IsString() user?: string | null;
  @IsInt() priority?: number | null;
  @IsString() request_id?: string | null;
  @IsString() cache_salt?: string | null;
  @IsInt() @Min(-1) truncate_prompt_tokens?: number | null;
  @IsString() @IsIn(['left', 'right']) truncation_side?: 'left' | 'right' | null;
}

/** Body of POST /pooling and /classify, and part of the body of /v1/embeddings. */
export class PoolingRequest extends PoolingFields {
  @Is(PROMPTS) input?: InputField | null;
  @IsArray() @IsObject({ each: true }) messages?: readonly object[] | null;
}

/** Body of POST /pooling with the form of its vectors. */
export class VectorRequest extends PoolingRequest {
  @IsString() @IsIn(['float', 'base64']) encoding_format?: 'float' | 'base64' | null;
  @IsInt() dimensions?: number | null;
  @IsString() @IsIn(['float32']) embed_dtype?: string | null;
  @IsString() @IsIn(['native', 'little']) endianness?: string | null;

  /** vLLM has removed this field and refuses it by name. */
  @Holds(() => ({ message: '`normalize` has been removed: embeddings always have length 1.' }))
  @IsBoolean()
  normalize?: boolean | null;
}

/**
 * Fields without effect in Baton. A request with such a field is served, because clients of these
 * servers send them.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  // vLLM's EmbeddingCompletionRequest and EmbeddingChatRequest
  // (vllm/entrypoints/pooling/base/protocol.py), also before 0.12.
  ...['add_generation_prompt', 'add_special_tokens', 'additional_data', 'chat_template'],
  ...['chat_template_kwargs', 'continue_final_message', 'media_io_kwargs', 'mm_processor_kwargs'],
  ...['padding', 'use_activation'],
  // SGLang's EmbeddingRequest (python/sglang/srt/entrypoints/openai/protocol.py), NVIDIA Dynamo.
  ...['embed_override_token_id', 'embed_overrides', 'lora_path', 'nvext', 'rid'],
]);

/** Body of POST /v1/embeddings. */
@RefusesUnknown(WITHOUT_EFFECT)
export class EmbeddingRequest extends VectorRequest {}
