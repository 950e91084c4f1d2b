import { BatonError } from '@baton/contract';
import { outside } from '../refusal/openai-faults';
import { RequestError, valueError } from '../refusal/request-error';
import type { Prompt } from '../generation-request';
import type { RequestLimits } from '../limits';

/**
 * Most tokens of all prompts of one request: four of the longest prompts of a model with 131,072.
 */
const MAX_PROMPT_TOKENS = 2 ** 19;

/** The token limits of a request before its prompt is counted. */
export interface OutputLimit {
  /** Undefined: all tokens that the prompt leaves. */
  readonly maxTokens: number | undefined;
  /** The field that set the limit. */
  readonly field: 'max_tokens' | 'max_completion_tokens';
  /** OpenAI's name of the input: the field that contains it. */
  readonly input: string;
}

/**
 * Length of a prompt in tokens. With `isAtLeast`, the tokenizer stopped early and the prompt has at
 * least that many.
 */
export interface PromptLength {
  readonly tokens: number;
  readonly isAtLeast: boolean;
}

/**
 * Checks prompts against the model's context. The constructor checks the request's output limit,
 * `room` checks each prompt.
 */
export class ContextLength {
  /** Most tokens of a prompt. */
  readonly maxInputTokens: number;
  private readonly requested: number;

  constructor(
    private readonly limits: RequestLimits,
    private readonly output: OutputLimit,
  ) {
    this.requested = output.maxTokens ?? 0;
    if (this.requested > limits.maxModelLen) throw this.outputTooLong();
    this.maxInputTokens = limits.maxModelLen - this.requested;
  }

  /** Refuses, without tokenizing, a text that is too long even with the longest tokens. */
  checkText(characters: number): void {
    const tokens = Math.ceil(characters / this.limits.tokenizer.longestToken);
    if (tokens > this.maxInputTokens) throw this.tooLong({ tokens, isAtLeast: true }, 'input_text');
  }

  /** Most output tokens of a prompt, at least 1. Throws when the requested number does not fit. */
  room(length: PromptLength): number {
    if (length.tokens > this.maxInputTokens) throw this.tooLong(length, 'input_tokens');
    const room = this.output.maxTokens ?? this.limits.maxModelLen - length.tokens;
    if (room < 1) throw this.noRoom();
    return room;
  }

  /**
   * Refuses a prompt and output that exceed the KV cache of one engine, since they could never run.
   */
  checkCapacity(tokens: number): void {
    const capacity = this.limits.kvCapacityTokens ?? Infinity;
    if (tokens <= capacity) return;
    const message =
      `The request needs KV cache for ${tokens} tokens, but an engine has room for ${capacity}. ` +
      `Please reduce the length of the prompt or the number of requested output tokens.`;
    throw valueError({ field: this.output.field, message }, 'kv_capacity_exceeded');
  }

  private outputTooLong(): RequestError {
    const { maxModelLen } = this.limits;
    const { field } = this.output;
    const message =
      `${field} is too large: ${this.requested}. This model supports at most ${maxModelLen} ` +
      `completion tokens, whereas you provided ${this.requested}.`;
    return valueError({ field, message, named: true });
  }

  private noRoom(): RequestError {
    const { field } = this.output;
    return valueError({
      field,
      message: `${field} must be at least 1, got 0.`,
      named: true,
      ...(this.output.maxTokens === 0 ? { beyond: outside('integer', 0, [1, Infinity]) } : {}),
    });
  }

  /** @param vllmParam vLLM's name of the input */
  private tooLong({ tokens, isAtLeast }: PromptLength, vllmParam: string): RequestError {
    const { input } = this.output;
    const about = isAtLeast ? 'at least ' : '';
    const split =
      this.requested === 0
        ? `your ${input} resulted in ${about}${tokens} tokens`
        : `you requested ${about}${tokens + this.requested} tokens (${about}${tokens} in the ` +
          `${input}, ${this.requested} in the completion)`;
    const message =
      `This model's maximum context length is ${this.limits.maxModelLen} tokens. However, ` +
      `${split}. Please reduce the length of the ${input}` +
      `${this.requested === 0 ? '' : ' or completion'}.`;
    return new RequestError('context_length_exceeded', { message, param: input, vllmParam });
  }
}

/** Counts the tokens of the prompts of one request as they are read. */
export class PromptTotal {
  private tokens = 0;
  private readonly most: number;

  /** One prompt can fill the context of its model, of any length. */
  constructor({ maxModelLen }: Pick<RequestLimits, 'maxModelLen'>) {
    this.most = Math.max(MAX_PROMPT_TOKENS, maxModelLen);
  }

  /** @throws BatonError `request_too_complex` when there are too many */
  add({ ids }: Pick<Prompt, 'ids'>): void {
    this.tokens += ids.length;
    if (this.tokens > this.most) throw new BatonError('request_too_complex');
  }
}
