import { BatonError, type ErrorCode } from '@baton/contract';
import { asciiJson } from '@baton/text';
import { type RenderedError, renderError, RequestError, UpstreamError } from '@baton/openai';

/** Fields of the chat request of a response, with their names in the Responses API. */
const NAMES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bresponse_format\.json_schema\b/g, 'text.format'],
  [/\bresponse_format\b/g, 'text.format'],
  [/\bmax_completion_tokens\b/g, 'max_output_tokens'],
  [/\breasoning_effort\b/g, 'reasoning.effort'],
  [/\bmessages(\[[^\]]*\][\w.[\]]*)?/g, 'input'],
];

/** A server's refusal of the chat of a response, at the name of the field in the Responses API. */
export function asResponseFault(error: BatonError): BatonError {
  return error instanceof UpstreamError ? error.at(error.param && ownNames(error.param)) : error;
}

function ownNames(text: string): string {
  return NAMES.reduce((all, [pattern, name]) => all.replace(pattern, name), text);
}

/**
 * The same failure with the field names of the Responses API. `toolIndexes[i]`: index of the chat's
 * i-th tool in the request.
 */
export function asResponseError(error: unknown, toolIndexes: readonly number[] = []): unknown {
  if (!(error instanceof BatonError)) return error;
  const renamed = (text: string): string => {
    return ownNames(text).replace(
      /\btools\[(\d+)\](?:\.(?:function|custom))?/g,
      (_all, index: string) => `tools[${toolIndexes[Number(index)] ?? index}]`,
    );
  };
  const text = { message: renamed(error.message), param: error.param && renamed(error.param) };
  const code = error instanceof RequestError ? error.openaiCode : undefined;
  return new RequestError(error.code, { ...text, code });
}

/** A failure with the same text in both dialects. */
export function responseError(
  code: ErrorCode,
  message: string,
  param: string | null = null,
): RequestError {
  return new RequestError(code, { message, param });
}

/** A failure as an HTTP answer. It has OpenAI's shape in both dialects. */
export function renderResponseError(error: BatonError): RenderedError {
  return renderError(error, 'openai');
}

export interface ResponseFailure {
  readonly code: string;
  readonly message: string;
}

/** The `error` of a failed response. */
export function responseFailure(error: BatonError): ResponseFailure {
  const isLimit = error.entry.status === 429;
  return { code: isLimit ? 'rate_limit_exceeded' : 'server_error', message: error.message };
}

/**
 * The event of a failure in a stream: flat as in OpenAI, and also nested as Open Responses
 * requires. A replay sends the same event.
 */
export function errorEvent({ code, message }: ResponseFailure, sequenceNumber: number): string {
  const type = code === 'rate_limit_exceeded' ? 'too_many_requests' : 'server_error';
  const event = {
    type: 'error',
    sequence_number: sequenceNumber,
    code,
    message,
    param: null,
    error: { type, code, message, param: null },
  };
  return `event: error\ndata: ${asciiJson(event)}\n\n`;
}
