import { IsInt, Min } from 'class-validator';
import { Is, NAMED, RefusesUnknown } from '../body/declare';
import { PROMPTS } from '../body/types';
import { FIELDS_WITHOUT_EFFECT } from '../refusal/fields-without-effect';
import { SamplingFields } from './sampling.dto';

export type PromptField =
  string | readonly string[] | readonly number[] | readonly (readonly number[])[];

@RefusesUnknown(FIELDS_WITHOUT_EFFECT)
class CompletionFields extends SamplingFields {
  @Is(PROMPTS) prompt?: PromptField | null;

  /** 0 is for `echo`. */
  @IsInt() @Min(0, NAMED) max_tokens?: number | null;
  @IsInt() logprobs?: number | null;
}

/** Body of POST /v1/completions; without own fields, as `ChatCompletionRequest`. */
export class CompletionRequest extends CompletionFields {}
