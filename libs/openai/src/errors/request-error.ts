import { BatonError, type ErrorCode } from '@baton/contract';
import { pythonRepr } from './python-text';

export interface ErrorText {
  readonly message: string;
  readonly param: string | null;
}

/** A client's mistake, which each dialect words in its own way. */
export class RequestError extends BatonError {
  constructor(
    code: ErrorCode,
    openai: ErrorText,
    readonly vllm: ErrorText,
  ) {
    super(code, openai.message, openai.param);
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
}

/** A value outside its range: vLLM's own checks, not those of its schema. */
export function valueError(fault: ValueFault, code: ErrorCode = 'invalid_value'): RequestError {
  const openai = { message: fault.message, param: fault.field };
  if (fault.named !== true) return new RequestError(code, openai, { ...openai, param: null });
  const value = typeof fault.value === 'number' ? pythonRepr(fault.value) : fault.value;
  const details = [`parameter=${fault.field}`, ...(value === undefined ? [] : [`value=${value}`])];
  const message = `${fault.message} (${details.join(', ')})`;
  return new RequestError(code, openai, { message, param: fault.field });
}
