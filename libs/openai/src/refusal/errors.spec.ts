import { BatonError, type ErrorCode, ERRORS } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { parseJsonBody } from '../request/parse-body';
import { renderError } from './render-error';
import { RequestError } from './request-error';

describe('a body that is not JSON', () => {
  const refusalOf = (text: string): RequestError => {
    try {
      parseJsonBody(text);
    } catch (error) {
      if (error instanceof RequestError) return error;
      throw error;
    }
    throw new Error('the text is JSON');
  };

  it.each([
    ['{', 'body.1'],
    ['{a:1}', 'body.1'],
    ['{"a":1,}', 'body.7'],
    ['{} x', 'body.3'],
    ['<html>', 'body'],
  ])('%j is refused, with its place where it is known', (text, place) => {
    const { code, message, param, vllmParam } = refusalOf(text);
    expect({ code, param, vllmParam }).toEqual({
      code: 'invalid_json',
      param: null,
      vllmParam: place,
    });
    expect(message).toMatch(/^The request body is not valid JSON(: the error is at .+)?\.$/);
  });

  it('with too many levels is refused like any other, in a short sentence', () => {
    expect(refusalOf('['.repeat(1_000_000)).message.length).toBeLessThan(200);
  });
});

describe('every failure of the catalogue', () => {
  const codes = Object.keys(ERRORS) as ErrorCode[];

  it.each(codes)('%s has a body in both dialects', (code) => {
    const error = new BatonError(code, 'Über', 'field');
    const openai = renderError(error, 'openai');
    expect(openai.status).toBe(ERRORS[code].status);
    expect(JSON.parse(openai.body)).toEqual({
      error: {
        message: 'Über',
        type: ERRORS[code].openaiType,
        param: 'field',
        code: ERRORS[code].openaiCode,
      },
    });
    const vllm = renderError(error, 'vllm');
    expect(vllm.status).toBe(ERRORS[code].status);
    expect(vllm.body).toMatch(/^[\x20-\x7e]+$/);
    expect(vllm.headers['content-type']).toBe('application/json');
  });

  it('unknown routes and methods are FastAPI’s in the vllm dialect', () => {
    const body = (code: ErrorCode) => renderError(new BatonError(code, 'x'), 'vllm').body;
    expect(body('not_found')).toBe('{"detail":"Not Found"}');
    expect(body('method_not_allowed')).toBe('{"detail":"Method Not Allowed"}');
  });

  it('gives the time of the next attempt in whole seconds', () => {
    const headers = (seconds: number) =>
      renderError(new BatonError('queue_full', undefined, null, seconds), 'vllm').headers;
    expect(headers(2.1)['retry-after']).toBe('3');
    expect(headers(0)['retry-after']).toBe('1');
  });

  /** Their own time is computed from a budget; without one, waiting does not help. */
  const rates: readonly string[] = ['request_rate_exceeded', 'token_rate_exceeded'];

  it('gives every 429 and 503 without an own time the one of the catalogue', () => {
    const headerOf = (code: ErrorCode) =>
      renderError(new BatonError(code), 'openai').headers['retry-after'];
    const isRetried = (code: ErrorCode) => [429, 503].includes(ERRORS[code].status);
    for (const code of codes) {
      const isExpected = isRetried(code) && !rates.includes(code);
      expect({ code, has: headerOf(code) !== undefined }).toEqual({ code, has: isExpected });
    }
    expect(headerOf('no_engine')).toBe('2');
    expect(headerOf('broker_unavailable')).toBe('1');
  });

  it('an unsupported content type has vLLM’s message', () => {
    expect(renderError(new BatonError('unsupported_content_type'), 'vllm').body).toBe(
      `{"error":{"message":"Unsupported Media Type: Only 'application/json' is allowed","type":"Bad Request","param":null,"code":400}}`,
    );
  });
});
