import { BOOLEAN, STRING } from '../request/shapes';
import { Is } from '../request/rules';
import { TOKEN_IDS } from '../request/sampling.dto';

class TokensDto {
  @Is(STRING)
  model?: string | null;
}

/** The fields that both forms of POST /tokenize have. */
export class TokenizeDto extends TokensDto {
  @Is(BOOLEAN)
  add_special_tokens?: boolean | null;

  @Is(BOOLEAN)
  return_token_strs?: boolean | null;
}

/** The form for a text. */
export class TokenizeTextDto extends TokenizeDto {
  @Is(STRING, { isRequired: true })
  prompt!: string;
}

/** Body of POST /detokenize. */
export class DetokenizeDto extends TokensDto {
  @Is(TOKEN_IDS, { isRequired: true })
  tokens!: readonly number[];
}
