import type { BatonError } from '@baton/contract';
import { type Dialect, renderError, type RenderedError, renderMessageError } from '@baton/openai';
import { renderResponseError } from '@baton/responses';
import { pathOf } from './request-context';

const MESSAGES = /^\/v1\/messages(\/|$)/;
const RESPONSES = /^\/v1\/(responses|conversations)(\/|$)/;

const UNAUTHORIZED = 401;

/** Renders an error in the shape that clients of this path expect. */
export function renderErrorAt(
  url: string | undefined,
  error: BatonError,
  dialect: Dialect,
): RenderedError {
  const path = pathOf(url);
  // Keys are checked before the path is matched.
  if (error.entry.status === UNAUTHORIZED && dialect === 'vllm') return renderError(error, dialect);
  if (RESPONSES.test(path)) return renderResponseError(error);
  return MESSAGES.test(path) ? renderMessageError(error, dialect) : renderError(error, dialect);
}
