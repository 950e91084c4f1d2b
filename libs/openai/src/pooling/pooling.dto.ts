import { anyOf, arrayOf, BOOLEAN, INTEGER, OBJECT, STRING } from '../request/shapes';
import { Is, Within } from '../request/rules';
import { TOKEN_IDS } from '../request/sampling.dto';

const INPUT = anyOf(STRING, arrayOf(STRING), TOKEN_IDS, arrayOf(TOKEN_IDS));

export type InputField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/**
 * The fields of all endpoints whose prompts generate no output. Fields that are missing here and in
 * the subclasses are ignored, or refused at /v1/embeddings in the `openai` dialect.
 */
export class PoolingDto {
  @Is(STRING)
  model?: string | null;

  @Is(STRING)
  user?: string | null;

  @Is(INTEGER)
  priority?: number | null;

  @Is(STRING)
  request_id?: string | null;

  @Is(STRING)
  cache_salt?: string | null;

  @Is(INTEGER)
  @Within((value: number) =>
    value < -1
      ? { message: `truncate_prompt_tokens must be at least -1, got ${value}.` }
      : undefined,
  )
  truncate_prompt_tokens?: number | null;

  @Is(STRING)
  @Within((value: string) =>
    value === 'left' || value === 'right'
      ? undefined
      : { message: "truncation_side must be 'left' or 'right'." },
  )
  truncation_side?: 'left' | 'right' | null;
}

/** Body of POST /pooling and /classify, and part of the body of /v1/embeddings. */
export class InputDto extends PoolingDto {
  @Is(INPUT)
  input?: InputField | null;

  @Is(arrayOf(OBJECT))
  messages?: readonly object[] | null;
}

const ENCODINGS: readonly string[] = ['float', 'base64'];

/** Body of POST /v1/embeddings and /pooling. */
export class EmbeddingDto extends InputDto {
  @Is(STRING)
  @Within((value: string) =>
    ENCODINGS.includes(value)
      ? undefined
      : { message: `encoding_format must be 'float' or 'base64', got '${value.slice(0, 100)}'.` },
  )
  encoding_format?: 'float' | 'base64' | null;

  @Is(INTEGER)
  dimensions?: number | null;

  @Is(STRING)
  @Within((value: string) =>
    value === 'float32'
      ? undefined
      : { message: `embed_dtype must be 'float32', got '${value.slice(0, 100)}'.` },
  )
  embed_dtype?: string | null;

  @Is(STRING)
  @Within((value: string) =>
    value === 'native' || value === 'little'
      ? undefined
      : { message: `endianness must be 'native' or 'little', got '${value.slice(0, 100)}'.` },
  )
  endianness?: string | null;

  /** vLLM has removed this field and refuses it by name. */
  @Is(BOOLEAN)
  @Within(() => ({ message: '`normalize` has been removed: embeddings always have length 1.' }))
  normalize?: boolean | null;
}
