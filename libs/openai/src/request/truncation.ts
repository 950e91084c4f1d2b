import type { Tokenizer } from '@baton/text';
import { valueError } from '../refusal/request-error';
import type { RequestLimits } from '../limits';
import type { SamplingFields } from './sampling.dto';

/** First guess of characters per token when only the end of a long text is needed. */
const FIRST_GUESS = 8;
/** Tokens at the cut of a text that can differ from those of the whole text. */
const MARGIN = 32;

/** `truncate_prompt_tokens`: the number of prompt tokens to keep, and from which side. */
export class Truncation {
  /** Undefined: all tokens. */
  private readonly most: number | undefined;
  private readonly keepsEnd: boolean;

  constructor(dto: SamplingFields, limits: RequestLimits) {
    const requested = dto.truncate_prompt_tokens ?? undefined;
    this.most = requested === -1 ? limits.maxModelLen - 1 : requested;
    this.keepsEnd = (dto.truncation_side ?? 'left') === 'left';
    if (requested === undefined || requested <= limits.maxModelLen) return;
    const message =
      `truncate_prompt_tokens value (${requested}) is greater than max_model_len ` +
      `(${limits.maxModelLen}). Please, select a smaller truncation size.`;
    throw valueError({ field: 'truncate_prompt_tokens', message });
  }

  get isWanted(): boolean {
    return this.most !== undefined;
  }

  ofIds(ids: Int32Array): Int32Array {
    if (this.most === undefined || ids.length <= this.most) return ids;
    return this.keepsEnd ? ids.slice(ids.length - this.most) : ids.slice(0, this.most);
  }

  /** Token ids of a text. Only the kept part is encoded. */
  ofText(text: string, tokenizer: Tokenizer): Int32Array {
    const most = this.most ?? Infinity;
    if (!this.keepsEnd || most === Infinity) {
      return this.ofIds(Int32Array.from(tokenizer.encode(text, most)));
    }
    for (let length = (most + MARGIN) * FIRST_GUESS; ; length *= 2) {
      const ids = Int32Array.from(tokenizer.encode(text.slice(-length)));
      if (length >= text.length || ids.length >= most + MARGIN) return this.ofIds(ids);
    }
  }
}
