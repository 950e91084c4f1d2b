import { BatonError } from '@baton/contract';
import { type Dialect, renderError, renderMessageError } from '@baton/openai';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type EndpointPath, limitsOf } from './endpoints';
import { PROMPT_RANGES } from './ranges/prompt-ranges';
import { MAX_MODEL_LEN, type Range } from './ranges/range';
import { TEXT_RANGES } from './ranges/text-ranges';

type Fields = Record<string, unknown>;

function refusal(path: EndpointPath, body: object, dialect: Dialect): BatonError | undefined {
  try {
    ENDPOINTS[path](body, limitsOf(dialect, MAX_MODEL_LEN));
    return undefined;
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
}

/** The body with the value at a place of one or two steps. */
function bodyWith(body: Readonly<Fields>, range: Range, value: unknown): Fields {
  const [outer = '', inner] = range.field.split('.');
  if (inner === undefined) return { ...body, ...range.with, [outer]: value };
  return { ...body, [outer]: { ...range.with, [inner]: value } };
}

/** The code of the refusal of `bad[at]` in the openai dialect. */
function codeOf({ code = 'invalid_value' }: Range, at: number): string | null | undefined {
  return Array.isArray(code) ? (code as readonly string[])[at] : (code as string | null);
}

function expectRefusal(error: BatonError, dialect: Dialect, range: Range, at: number): void {
  const { status, body } = renderError(error, dialect);
  expect(status).toBe(400);
  const { field, param = field } = range;
  const code = codeOf(range, at);
  const { vllmType = 'BadRequestError', vllmParam = null } = range;
  const expected =
    dialect === 'openai'
      ? { type: 'invalid_request_error', param, code }
      : { type: vllmType, param: vllmParam, code: 400 };
  expect((JSON.parse(body) as { error: object }).error).toMatchObject(expected);
}

/** Anthropic's errors have neither parameter nor code; the message names the place. */
function expectMessageRefusal(
  error: BatonError,
  dialect: Dialect,
  { field, vllmType }: Range,
): void {
  const { status, body } = renderMessageError(error, dialect);
  expect(status).toBe(400);
  const type = dialect === 'openai' ? 'invalid_request_error' : (vllmType ?? 'BadRequestError');
  const { error: said } = JSON.parse(body) as { error: { type: string; message: string } };
  expect(said.type).toBe(type);
  expect(said.message).toContain(field);
}

describe.each(['openai', 'vllm'] as const)('ranges in the %s dialect', (dialect) => {
  const sets = [...TEXT_RANGES, ...PROMPT_RANGES].flatMap(({ paths, ...rest }) =>
    paths.map((path) => ({ path, ...rest })),
  );

  describe.each(sets)('of $path', ({ path, body, ranges }) => {
    const isMessage = path.startsWith('/v1/messages');

    it.each(ranges.filter(({ dialects }) => dialects?.includes(dialect) ?? true))(
      '$field takes its edges, and nothing beyond',
      (range) => {
        const nameOf = (value: unknown): string =>
          `${range.field}: ${JSON.stringify(value).slice(0, 100)}`;
        for (const value of range.good) {
          const found = refusal(path, bodyWith(body, range, value), dialect);
          expect(found?.message, nameOf(value)).toBeUndefined();
        }
        for (const [at, value] of range.bad.entries()) {
          const found = refusal(path, bodyWith(body, range, value), dialect);
          expect(found, nameOf(value)).toBeDefined();
          if (isMessage) expectMessageRefusal(found!, dialect, range);
          else expectRefusal(found!, dialect, range, at);
        }
      },
    );
  });

  describe.each(['/v1/chat/completions', '/v1/completions'] as const)('of %s', (path) => {
    const prompt = path === '/v1/completions' ? { prompt: 'Hi' } : {};
    const body = { messages: [{ role: 'user', content: 'Hi' }], ...prompt };

    it.each(['n', 'max_tokens', 'seed', 'min_tokens', 'top_k', 'priority'])(
      '%s is a whole number',
      (field) => {
        for (const value of ['1', 1.5, true, [1], {}]) {
          const found = refusal(path, { ...body, [field]: value }, dialect);
          expect(found?.code, `${field}: ${JSON.stringify(value)}`).toBe('invalid_type');
        }
      },
    );
  });
});

const chat = (content: unknown): object => ({ messages: [{ role: 'user', content }] });
const message = (content: unknown): object => ({ ...chat(content), max_tokens: 9 });

describe.each(['openai', 'vllm'] as const)('a text part in the %s dialect', (dialect) => {
  it.each([null, 5, true, {}, ['x'], undefined])('that is %j is refused with its place', (text) => {
    const part = { type: 'text', text };
    const parts = [{ type: 'text', text: 'fine' }, part];
    const found = refusal('/v1/chat/completions', chat(parts), dialect);
    const { status, body } = renderError(found!, dialect);
    expect(status).toBe(400);
    const { error } = JSON.parse(body) as { error: { param: string; message: string } };
    if (dialect === 'openai') expect(error.param).toBe('messages[0].content[1].text');
    expect(error.message).toContain('messages[0].content[1]');
    for (const path of ['/v1/messages', '/v1/messages/count_tokens'] as const) {
      const refused = refusal(path, message(parts), dialect);
      const said = renderMessageError(refused!, dialect);
      expect(said.status).toBe(400);
      expect(said.body).toContain('messages.0.content.1.text');
    }
    const tool = { type: 'tool_result', tool_use_id: 'c', content: [part] };
    const inner = renderMessageError(refusal('/v1/messages', message([tool]), dialect)!, dialect);
    expect(inner.body).toContain('messages.0.content.0.content.0.text');
  });
});
