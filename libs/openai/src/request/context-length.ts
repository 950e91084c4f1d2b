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
 * Checks prompts against the model's context, with the messages of vLLM and of OpenAI for the same
 * errors. The constructor checks the request's output limit, `room` checks each prompt.
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
    const most = this.maxInputTokens * this.limits.tokenizer.longestToken;
    if (characters <= most) return;
    const { maxModelLen } = this.limits;
    throw this.tooLong(
      `This model's maximum context length is ${maxModelLen} tokens. However, you requested ` +
        `${this.requested} output tokens and your prompt contains ${characters} characters (more ` +
        `than ${most} characters, which is the upper bound for ${this.maxInputTokens} input ` +
        'tokens). ' +
        `Please reduce the length of the input prompt or the number of requested output tokens.`,
      { parameter: 'input_text', value: characters, tokens: this.maxInputTokens + 1 },
    );
  }

  /** Most output tokens of a prompt, at least 1. Throws when the requested number does not fit. */
  room({ tokens, isAtLeast }: PromptLength): number {
    const { maxModelLen } = this.limits;
    if (tokens > this.maxInputTokens) {
      const about = isAtLeast ? 'at least ' : '';
      throw this.tooLong(
        `This model's maximum context length is ${maxModelLen} tokens. However, you requested ` +
          `${this.requested} output tokens and your prompt contains ${about}${tokens} input ` +
          'tokens, ' +
          `for a total of ${about}${tokens + this.requested} tokens. Please reduce the ` +
          'length of the ' +
          `input prompt or the number of requested output tokens.`,
        { parameter: 'input_tokens', value: tokens, tokens },
      );
    }
    const room = this.output.maxTokens ?? maxModelLen - tokens;
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
      `max_tokens is too large: ${this.requested}. This model supports at most ${maxModelLen} ` +
      `completion tokens, whereas you provided ${this.requested}.`;
    const vllm = valueError({
      field,
      message:
        `${field}=${this.requested} cannot be greater than max_model_len=max_total_tokens=` +
        `${maxModelLen}. Please request fewer output tokens.`,
      named: true,
      value: this.requested,
    }).vllm;
    return new RequestError('invalid_value', { message, param: field }, vllm);
  }

  private noRoom(): RequestError {
    const { field } = this.output;
    return valueError({
      field,
      message: `${field} must be at least 1, got 0.`,
      named: true,
      value: 0,
      ...(this.output.maxTokens === 0 ? { beyond: outside('integer', 0, [1, Infinity]) } : {}),
    });
  }

  private tooLong(
    vllmMessage: string,
    found: { readonly parameter: string; readonly value: number; readonly tokens: number },
  ): RequestError {
    const { maxModelLen } = this.limits;
    const { parameter: field, value } = found;
    const { vllm } = valueError({ field, message: vllmMessage, named: true, value });
    const { input } = this.output;
    const split =
      this.requested === 0
        ? `your ${input} resulted in ${found.tokens} tokens`
        : `you requested ${found.tokens + this.requested} tokens (${found.tokens} in the ` +
          `${input}, ${this.requested} in the completion)`;
    const message =
      `This model's maximum context length is ${maxModelLen} tokens. However, ${split}. ` +
      `Please reduce the length of the ${input}${this.requested === 0 ? '' : ' or completion'}.`;
    return new RequestError('context_length_exceeded', { message, param: input }, vllm);
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
