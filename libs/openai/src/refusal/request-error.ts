import { BatonError, type ErrorCode } from '@baton/contract';
import { type BoundFault, boundMessage, type OpenaiCode } from './openai-faults';

export interface ErrorText {
  readonly message: string;
  /** OpenAI's name of the field. */
  readonly param: string | null;
  /** OpenAI's code where it differs from the catalogue's. */
  readonly code?: OpenaiCode | undefined;
  /** The field as vLLM names it. Default: as `param`. */
  readonly vllmParam?: string | null | undefined;
}

/** A client error: one sentence, and the field in the names of both dialects. */
export class RequestError extends BatonError {
  /** Undefined: the code of the catalogue. */
  readonly openaiCode: OpenaiCode | undefined;
  readonly vllmParam: string | null;

  constructor(code: ErrorCode, { message, param, code: own, vllmParam = param }: ErrorText) {
    super(code, message, param);
    this.openaiCode = own;
    this.vllmParam = vllmParam;
  }
}

/** A value that is not allowed. */
export interface Complaint {
  readonly message: string;
  /** The violated bound, where OpenAI has a sentence and a code for it. */
  readonly beyond?: BoundFault | undefined;
}

export interface ValueFault extends Complaint {
  /** The client's name of the field. */
  readonly field: string;
  /** Whether vLLM names the field in its error, as it does for some checks. */
  readonly named?: boolean;
}

/** A value that a check of vLLM other than its schema refuses. */
export function valueError(fault: ValueFault, code: ErrorCode = 'invalid_value'): RequestError {
  const { field, beyond, message, named } = fault;
  const vllmParam = named === true ? field : null;
  return beyond === undefined
    ? new RequestError(code, { message, param: field, vllmParam })
    : new RequestError(code, {
        message: boundMessage(field, beyond),
        param: field,
        code: beyond.code,
        vllmParam,
      });
}

/** A field that is required by a rule outside the schema of a body. */
export function missingField(field: string): RequestError {
  return new RequestError('invalid_value', {
    message: `Missing required parameter: '${field}'.`,
    param: field,
    code: 'missing_required_parameter',
    vllmParam: null,
  });
}
