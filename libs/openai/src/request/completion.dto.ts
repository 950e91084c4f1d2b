import { Is } from './rules';
import { SamplingDto, TOKEN_IDS } from './sampling.dto';
import { anyOf, INTEGER, listOf, TEXT } from './shapes';

const PROMPT = anyOf(TEXT, listOf(TEXT), TOKEN_IDS, listOf(TOKEN_IDS));

export type PromptField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Body of POST /v1/completions. */
export class CompletionDto extends SamplingDto {
  @Is(PROMPT)
  prompt?: PromptField | null;

  @Is(INTEGER)
  logprobs?: number | null;
}
