import { BatonError, type ErrorCode } from '@baton/contract';
import { type BoundFault, boundMessage, type OpenaiCode } from './openai-faults';
import { pythonRepr } from './python-text';

export interface ErrorText {
  readonly message: string;
  readonly param: string | null;
}

/** OpenAI's text, with its code where that differs from the catalogue's. */
export interface OpenaiText extends ErrorText {
  readonly code?: OpenaiCode | undefined;
}

/** A client error, with one text per dialect. */
export class RequestError extends BatonError {
  /** Undefined: the code of the catalogue. */
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
  /** The client's name of the field. */
  readonly field: string;
  readonly message: string;
  /** Whether vLLM names the parameter in its error, as it does for some checks. */
  readonly named?: boolean;
  /** The value that vLLM quotes with the parameter. A string is already Python text. */
  readonly value?: string | number;
  /** The violated bound, where OpenAI has a code for it. */
  readonly beyond?: BoundFault | undefined;
}

/** A value that a check of vLLM other than its schema refuses. */
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
