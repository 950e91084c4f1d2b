import { BatonError } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../refusal/dialect';
import { renderMessageError } from './message-error';

describe('an error at /v1/messages', () => {
  it.each([
    ['invalid_value', 'BadRequestError', 'invalid_request_error'],
    ['model_not_found', 'NotFoundError', 'not_found_error'],
    ['body_too_large', 'Request Entity Too Large', 'request_too_large'],
    ['queue_full', 'Too Many Requests', 'rate_limit_error'],
    ['engine_error', 'InternalServerError', 'api_error'],
    ['broker_unavailable', 'ServiceUnavailableError', 'overloaded_error'],
  ] as const)('%s is %s of vLLM and %s of Anthropic', (code, vllm, anthropic) => {
    const error = new BatonError(code, 'no');
    const bodyOf = (dialect: Dialect): string => renderMessageError(error, dialect).body;
    expect(bodyOf('vllm')).toBe(`{"type":"error","error":{"type":"${vllm}","message":"no"}}`);
    expect(bodyOf('openai')).toBe(
      `{"type":"error","error":{"type":"${anthropic}","message":"no"},"request_id":null}`,
    );
  });
});
