import { IsBoolean, IsDefined, IsString, ValidateIf } from 'class-validator';
import { Is } from '../body/declare';
import { TOKEN_IDS } from '../body/types';

class TokensFields {
  @IsString() model?: string | null;
}

/** Body of POST /tokenize: a text, or the messages of a chat. */
export class TokenizeRequest extends TokensFields {
  @IsBoolean() add_special_tokens?: boolean | null;
  @IsBoolean() return_token_strs?: boolean | null;

  @ValidateIf(({ messages }: { readonly messages?: unknown }) => (messages ?? null) === null)
  @IsDefined()
  @IsString()
  prompt!: string;
}

/** Body of POST /detokenize. */
export class DetokenizeRequest extends TokensFields {
  @IsDefined() @Is(TOKEN_IDS) tokens!: readonly number[];
}
