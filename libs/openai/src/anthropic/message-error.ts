import type { BatonError } from '@baton/contract';
import { isObject } from '@baton/kernel';
import { asciiJson } from '@baton/text';
import { renderError, type RenderedError } from '../refusal/render-error';
import type { Dialect } from '../refusal/dialect';

/**
 * Anthropic's error types by HTTP status. Others from 400 to 499 are `invalid_request_error`, the
 * rest `api_error`.
 */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

/**
 * A failure at /v1/messages: `{type: "error", error: {type, message}}`. vLLM writes its own types
 * in that shape, without `request_id`. In Anthropic's dialect it is null here; the id is in the
 * header.
 */
export function renderMessageError(error: BatonError, dialect: Dialect): RenderedError {
  const rendered = renderError(error, dialect);
  const plain: unknown = JSON.parse(rendered.body);
  const found = isObject(plain) ? plain['error'] : undefined;
  if (!isObject(found)) return rendered;
  const type = dialect === 'vllm' ? found['type'] : anthropicType(rendered.status);
  const requestId = dialect === 'vllm' ? {} : { request_id: null };
  const failure = { type, message: found['message'] };
  const body = asciiJson({ type: 'error', error: failure, ...requestId });
  return { ...rendered, body };
}

function anthropicType(status: number): string {
  return TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}
