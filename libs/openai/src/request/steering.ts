import type { Steering } from '@baton/text';
import { valueError } from '../refusal/request-error';
import type { RequestLimits } from '../limits';
import type { SamplingFields } from './sampling.dto';

const MAX_BIAS = 100;
const SHOWN_IDS = 20;

/** Tokens that a request favours or bans. Undefined when it has no such field. */
export function steeringOf(dto: SamplingFields, limits: RequestLimits): Steering | undefined {
  const bias = biasOf(dto.logit_bias ?? {}, limits);
  const allowed = dto.allowed_token_ids ?? undefined;
  const badWords = dto.bad_words ?? [];
  if (allowed !== undefined) checkAllowed(allowed, limits);
  if (bias.size === 0 && allowed === undefined && badWords.length === 0) return undefined;
  return { bias, allowed, badWords };
}

/** vLLM clamps a bias outside the range; OpenAI refuses it. */
function biasOf(
  fields: Readonly<Record<string, number>>,
  { dialect, tokenizer }: RequestLimits,
): Map<number, number> {
  const bias = new Map<number, number>();
  for (const [key, value] of Object.entries(fields)) {
    const field = `logit_bias.${key.slice(0, 20)}`;
    if (!/^\d{1,10}$/.test(key)) {
      throw valueError({ field, message: `${field} must be named by a token id.` });
    }
    if (dialect === 'openai' && Math.abs(value) > MAX_BIAS) {
      throw valueError({ field, message: `${field} must be in [-100, 100], got ${value}.` });
    }
    bias.set(Number(key), Math.max(-MAX_BIAS, Math.min(MAX_BIAS, value)));
  }
  checkVocabulary('logit_bias', [...bias.keys()], tokenizer);
  return bias;
}

function checkAllowed(ids: readonly number[], { tokenizer }: RequestLimits): void {
  const field = 'allowed_token_ids';
  if (ids.length === 0) {
    throw valueError({ field, message: 'allowed_token_ids is not None and empty!', named: true });
  }
  if (ids.every((id) => tokenizer.hasToken(id))) return;
  const message = 'allowed_token_ids contains out-of-vocab token id!';
  throw valueError({ field, message, named: true });
}

/** Checks that every id is in the vocabulary. Throws `BatonError`. */
export function checkVocabulary(
  field: string,
  ids: readonly number[],
  tokenizer: RequestLimits['tokenizer'],
): void {
  const foreign = ids.filter((id) => !tokenizer.hasToken(id));
  if (foreign.length === 0) return;
  const list = `[${foreign.slice(0, SHOWN_IDS).join(', ')}]`;
  throw valueError({
    field,
    message:
      `token_id(s) ${list} in ${field} contain out-of-vocab token ids. Vocabulary size: ` +
      `${tokenizer.vocabSize}`,
    named: true,
  });
}
