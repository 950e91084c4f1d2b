import { BatonError, type ErrorCode, ERRORS } from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { findJsonError } from './json-syntax';
import { pythonFloat, pythonRepr } from './python-text';
import { renderError } from './render-error';
import { jsonError } from './schema-error';

describe('a body that is not JSON', () => {
  it.each([
    ['{', 1, 'Expecting property name enclosed in double quotes'],
    ['{a:1}', 1, 'Expecting property name enclosed in double quotes'],
    ['{"a" 1}', 5, "Expecting ':' delimiter"],
    ['{"a":}', 5, 'Expecting value'],
    ['{"a":1 "b"}', 7, "Expecting ',' delimiter"],
    ['[1,]', 3, 'Expecting value'],
    ['[1 2]', 3, "Expecting ',' delimiter"],
    ['{"a":"b', 5, 'Unterminated string starting at'],
    ['"a\nb"', 2, 'Invalid control character at'],
    [String.raw`"a\x"`, 2, 'Invalid \\escape'],
    [String.raw`"\u12"`, 2, 'Invalid \\uXXXX escape'],
    ['{} x', 3, 'Extra data'],
    ['01', 1, 'Extra data'],
    ['nul', 0, 'Expecting value'],
    ['<html>', 0, 'Expecting value'],
  ])('%j fails at %i', (text, offset, message) => {
    expect(findJsonError(text)).toEqual({ offset, message });
  });

  it('fails at the same place as in JSON.parse', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '}', ',', '"', 'x', '\\', '\n'))
      .map(([text, at, insert]) => {
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + insert + text.slice(cut + 1);
      });
    fc.assert(
      fc.property(broken, (text) => {
        try {
          JSON.parse(text);
        } catch {
          const { offset } = findJsonError(text);
          expect(offset).toBeLessThanOrEqual(text.length);
          expect(jsonError(text)).toBeInstanceOf(BatonError);
        }
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it('with too many levels is refused like any other', () => {
    expect(jsonError('['.repeat(1_000_000)).code).toBe('invalid_json');
  });
});

describe('values in messages', () => {
  it.each([
    [null, 'None'],
    [true, 'True'],
    [1.5, '1.5'],
    [1e-7, '1e-07'],
    [Infinity, 'inf'],
    ["it's", `"it's"`],
    [`it's "so"`, `'it\\'s "so"'`],
    ['a\nb\\', "'a\\nb\\\\'"],
    [{ a: [1, 'x'] }, "{'a': [1, 'x']}"],
  ])('%j is written %s', (value, text) => expect(pythonRepr(value)).toBe(text));

  it('are cut when they are long or nested deeply', () => {
    expect(pythonRepr('x'.repeat(1e6)).length).toBeLessThan(1100);
    expect(pythonRepr(Array.from({ length: 1e5 }, () => 'y')).length).toBeLessThan(1100);
    const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown;
    expect(pythonRepr(deep)).toContain('...');
  });

  it('floats keep their decimal point', () => {
    expect([pythonFloat(1), pythonFloat(-0.5), pythonFloat(1e21)]).toEqual([
      '1.0',
      '-0.5',
      '1e+21',
    ]);
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
      String.raw`{"error":{"message":"1 validation error:\n  Unsupported Media Type: ` +
        `Only 'application/json' is allowed","type":"Bad Request","param":null,"code":400}}`,
    );
  });
});
