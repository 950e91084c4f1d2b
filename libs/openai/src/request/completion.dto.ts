import { Is } from './rules';
import { SamplingDto, TOKEN_IDS } from './sampling.dto';
import { anyOf, INTEGER, arrayOf, STRING } from './shapes';

const PROMPT = anyOf(STRING, arrayOf(STRING), TOKEN_IDS, arrayOf(TOKEN_IDS));

export type PromptField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** Body of POST /v1/completions. */
export class CompletionDto extends SamplingDto {
  @Is(PROMPT)
  prompt?: PromptField | null;

  @Is(INTEGER)
  logprobs?: number | null;
}
