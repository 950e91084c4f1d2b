import { BatonError } from '../baton-error';
import { type FaultAction } from '../fault';

export const FAILURE_TYPES = [
  'rate_limit',
  'invalid_api_key',
  'context_length',
  'server_error',
  'invalid_request',
  'model_not_found',
] as const;

export type FailureType = (typeof FAILURE_TYPES)[number];

type ErrorAction = Extract<FaultAction, { kind: 'error' }>;

/**
 * The failures of llm-d-inference-sim (pkg/llm-d-inference-sim/failures.go), with its statuses,
 * messages and params.
 */
export function llmDFailure(type: FailureType, model: string): ErrorAction {
  const error = (
    status: number,
    message: string,
    more: Partial<ErrorAction> = {},
  ): ErrorAction => ({
    kind: 'error',
    status,
    message,
    afterTokens: 0,
    ...more,
  });
  switch (type) {
    case 'rate_limit':
      return error(
        429,
        `Rate limit reached for ${model} in organization org-xxx on requests per min (RPM): ` +
          'Limit 3, Used 3, Requested 1.',
      );
    case 'invalid_api_key':
      return error(401, 'Incorrect API key provided.');
    case 'context_length':
      return error(
        400,
        "This model's maximum context length is 4096 tokens. However, your messages " +
          'resulted in 4500 tokens.',
        { param: 'messages', openaiCode: 'context_length_exceeded' },
      );
    case 'server_error':
      return error(503, 'The server is overloaded or not ready yet.');
    case 'invalid_request':
      return error(400, "Invalid request: missing required parameter 'model'.", { param: 'model' });
    case 'model_not_found':
      return error(404, `The model '${model}-nonexistent' does not exist`, { param: 'model' });
  }
}

const LOWEST = 400;
const HIGHEST = 599;

/**
 * The error that `X-Return-Error` requests. Throws 400 when its value is not the status of a
 * failure.
 */
export function returnedError(header: string): ErrorAction {
  const status = /^\d{3}$/.test(header.trim()) ? Number(header) : 0;
  if (status >= LOWEST && status <= HIGHEST) return { kind: 'error', status, afterTokens: 0 };
  const message = `X-Return-Error must be an HTTP status from ${LOWEST} to ${HIGHEST}.`;
  throw new BatonError('invalid_value', message, 'X-Return-Error');
}
