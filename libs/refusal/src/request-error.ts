import { BatonError, type ErrorCode } from '@baton/contract';
import { type BoundFault, boundMessage, type OpenaiCode } from './openai-faults';
import { pythonRepr } from './python-text';

export interface ErrorText {
  readonly message: string;
  readonly param: string | null;
}

/** In OpenAI's words, with its code where that is not the one of the catalogue. */
export interface OpenaiText extends ErrorText {
  readonly code?: OpenaiCode | undefined;
}

/** A client's mistake, which each dialect words in its own way. */
export class RequestError extends BatonError {
  /** Undefined: that of the catalogue. */
  readonly openaiCode: OpenaiCode | undefined;

  constructor(
    code: ErrorCode,
    openai: OpenaiText,
    readonly vllm: ErrorText,
  ) {
    super(code, openai.message, openai.param);
    this.openaiCode = openai.code;
  }
}

export interface ValueFault {
  /** The client's name for the field. */
  readonly field: string;
  readonly message: string;
  /** vLLM names the parameter for some of its checks only. */
  readonly named?: boolean;
  /** Quoted by vLLM when the parameter is named; a string is Python text already. */
  readonly value?: string | number;
  /** The bound that it is beyond, where OpenAI has a code for that. */
  readonly beyond?: BoundFault | undefined;
}

/** A value outside its range: vLLM's own checks, not those of its schema. */
export function valueError(fault: ValueFault, code: ErrorCode = 'invalid_value'): RequestError {
  const { field, beyond, message: plain } = fault;
  const openai =
    beyond === undefined
      ? { message: plain, param: field }
      : { message: boundMessage(field, beyond), param: field, code: beyond.code };
  if (fault.named !== true) {
    return new RequestError(code, openai, { message: plain, param: null });
  }
  const value = typeof fault.value === 'number' ? pythonRepr(fault.value) : fault.value;
  const details = [`parameter=${fault.field}`, ...(value === undefined ? [] : [`value=${value}`])];
  const message = `${fault.message} (${details.join(', ')})`;
  return new RequestError(code, openai, { message, param: fault.field });
}
