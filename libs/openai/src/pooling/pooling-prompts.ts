import { ContextLength } from '../request/context-length';
import { SamplingFields } from '../request/sampling.dto';
import { samplingPart } from '../request/sampling-request';
import { servedModel } from '../request/parse-body';
import { Truncation } from '../request/truncation';
import { missingField, valueError } from '../refusal/request-error';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import type { InputField, PoolingFields } from './pooling.dto';

/** OpenAI's limit on the inputs of one request. vLLM has none; the same limit applies there. */
export const MAX_INPUTS = 2048;

/**
 * Most tokens of one request: OpenAI's limit, and one of Baton's for the vllm dialect, since vLLM
 * has none and long requests delay others.
 */
const MAX_TOKENS = { openai: 300_000, vllm: 2 ** 20 } as const;

export type PoolingInput = string | ArrayLike<number>;

/** Inputs of a field: one or a list, as text or as token ids. */
export function inputsOf(field: InputField | null | undefined, name: string): PoolingInput[] {
  if (field === undefined || field === null) {
    throw missingField(name);
  }
  if (typeof field === 'string') return [field];
  if (typeof field[0] === 'number') return [field as readonly number[]];
  checkCount(field.length, name);
  return [...(field as readonly (string | readonly number[])[])];
}

export function checkCount(count: number, name: string): void {
  if (count >= 1 && count <= MAX_INPUTS) return;
  const message = `${name} must have 1 to ${MAX_INPUTS} entries, got ${count}.`;
  throw valueError({ field: name, message });
}

/** Reads inputs as token ids, within the context length. */
export class PoolingPrompts {
  private readonly truncation: Truncation;
  private tokens = 0;

  constructor(
    dto: PoolingFields,
    private readonly limits: RequestLimits,
  ) {
    this.truncation = new Truncation(truncationPart(dto), limits);
  }

  /** Ids of one of the request's prompts. Throws when the prompts have too many tokens together. */
  prompt(input: PoolingInput, place: string): Int32Array {
    const ids = this.ids(input, place);
    const most = MAX_TOKENS[this.limits.dialect];
    this.tokens += ids.length;
    if (this.tokens <= most) return ids;
    const message = `One request may have ${most} tokens over all of its inputs.`;
    throw valueError({ field: place, message });
  }

  /** @param place name of the input in errors */
  ids(input: PoolingInput, place: string): Int32Array {
    const { tokenizer, maxModelLen } = this.limits;
    if (input.length === 0) {
      throw valueError({ field: place, message: `${place} must not be empty.` });
    }
    const context = this.contextOf(place);
    const ids = typeof input === 'string' ? this.ofText(input, context) : this.ofIds(input, place);
    const isTooLong = ids.length > maxModelLen;
    if (isTooLong) context.room({ tokens: ids.length, isAtLeast: typeof input === 'string' });
    context.checkCapacity(Math.min(ids.length + 1, maxModelLen));
    return ids.length > 0 ? ids : Int32Array.of(tokenizer.special.endOfText);
  }

  private contextOf(input: string): ContextLength {
    return new ContextLength(this.limits, { maxTokens: undefined, field: 'max_tokens', input });
  }

  private ofText(text: string, context: ContextLength): Int32Array {
    const { tokenizer, maxModelLen } = this.limits;
    if (this.truncation.isWanted) return this.truncation.ofText(text, tokenizer);
    context.checkText(text.length);
    return Int32Array.from(tokenizer.encode(text, maxModelLen));
  }

  private ofIds(source: ArrayLike<number>, place: string): Int32Array {
    const ids = Int32Array.from(source);
    const foreign = Array.from(source).find((id) => !this.limits.tokenizer.hasToken(id));
    if (foreign === undefined) return this.truncation.ofIds(ids);
    throw valueError({ field: place, message: `Token id ${foreign} is out of vocabulary` });
  }
}

/**
 * Prompts for the cluster: each is prefilled and samples one hidden token. The last token of a
 * prompt that fills the whole context is not computed.
 */
export function poolingRequest(
  dto: PoolingFields,
  prompts: readonly Int32Array[],
  limits: RequestLimits,
): GenerationRequest {
  const sampling = Object.assign(new SamplingFields(), {
    priority: dto.priority,
    request_id: dto.request_id,
    cache_salt: dto.cache_salt,
    user: dto.user,
  });
  return {
    ...samplingPart(sampling, limits),
    endpoint: 'completions',
    model: servedModel(dto.model, limits),
    prompts: prompts.map((ids) => ({
      ids: ids.subarray(0, limits.maxModelLen - 1),
      echoText: undefined,
      maxTokens: 1,
      hidesOutput: true,
    })),
    choices: 1,
    tools: undefined,
    calls: { kind: 'tools', finishReason: 'tool_calls' },
    reasoning: undefined,
    logprobs: undefined,
    promptLogprobs: undefined,
    returnPromptText: false,
  };
}

function truncationPart({
  truncate_prompt_tokens,
  truncation_side,
}: PoolingFields): SamplingFields {
  return Object.assign(new SamplingFields(), { truncate_prompt_tokens, truncation_side });
}
