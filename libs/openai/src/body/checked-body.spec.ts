import { IsArray, IsDefined, IsInt, IsString, Max, Min } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../refusal/request-error';
import { ChatCompletionRequest } from '../request/chat.dto';
import { checkedBody } from './checked-body';
import { BY_SCHEMA, Holds, NAMED, Nested, RefusesUnknown } from './declare';
import { engineFields, engineParametersOf, ForEngine } from './for-engine';
import { schemaOf } from './json-schema';
import { ToolField } from '../request/tools.dto';

@RefusesUnknown(new Set(['ignored']))
class Inner {
  @IsDefined() @IsString() name!: string;
}

class Base {
  @IsInt() @Min(0, NAMED) @Max(9, BY_SCHEMA) @ForEngine('cacheHitThreshold') share?: number | null;
}

@RefusesUnknown(new Set(['ignored']))
class MadeUp extends Base {
  @Holds((value, { share }: MadeUp) =>
    value === 'small' && (share ?? 0) > 5 ? { message: 'the share is not small' } : undefined,
  )
  @IsString()
  size?: string | null;

  @IsArray() @Nested(Inner, { each: true }) list?: readonly Inner[] | null;
}

const read = (body: unknown, dialect: 'openai' | 'vllm' = 'openai') =>
  checkedBody(MadeUp, body, { dialect });

function refusalOf(body: unknown, dialect: 'openai' | 'vllm' = 'openai'): RequestError {
  try {
    read(body, dialect);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error('the body was let through');
}

describe('a checked body', () => {
  it('is an object of its class with all its fields, and is not checked again', () => {
    const body = read({ share: null, size: 'a', ignored: 1, list: [{ name: 'x' }] });
    expect(body).toBeInstanceOf(MadeUp);
    expect(body.list?.[0]).toBeInstanceOf(Inner);
    expect({ ...body }).toEqual({ share: null, size: 'a', ignored: 1, list: [{ name: 'x' }] });
    expect(checkedBody(MadeUp, body, { dialect: 'openai' })).toBe(body);
  });

  it('keeps the names that objects inherit where no class looks', () => {
    const body = JSON.parse('{"size":"a","ignored":{"constructor":1,"__proto__":{"x":2}}}');
    expect(JSON.stringify(read(body)['ignored'])).toBe('{"constructor":1,"__proto__":{"x":2}}');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'is neither changed nor broken by a field called %s',
    (name) => {
      const body: unknown = JSON.parse(`{"size":"a","${name}":null}`);
      expect(read(body, 'vllm')).toBeInstanceOf(MadeUp);
      expect(read(body, 'vllm').size).toBe('a');
      const inner: unknown = JSON.parse(`{"list":[{"${name}":{"name":"x"}}]}`);
      expect(refusalOf(inner, 'vllm').param).toBe('list[0].name');
    },
  );

  it.each(['__proto__', 'constructor', 'made_up'])(
    'has no field %s in the openai dialect',
    (name) => {
      const refusal = refusalOf(JSON.parse(`{"${name}":1}`));
      expect(refusal).toMatchObject({ param: name, openaiCode: 'unknown_parameter' });
    },
  );

  it('proposes the near name of an unknown field, at any depth', () => {
    expect(refusalOf({ sise: 'a' }).message).toBe(
      "Unknown parameter: 'sise'. Did you mean 'size'?",
    );
    expect(refusalOf({ list: [{ name: 'x', nam: 1 }] }).message).toContain("'list[0].nam'.");
    expect(read({ sise: 'a' }, 'vllm')['sise']).toBe('a');
  });

  it.each([
    [{ share: '1' }, 'share', 'body.share'],
    [{ share: -1 }, 'share', 'share'],
    [{ share: 10 }, 'share', 'body.share'],
    [{ size: 'small', share: 6 }, 'size', null],
    [{ list: [{ name: 'x' }, 5] }, 'list[1]', 'body.list.1'],
    [{ list: [{ name: 5 }] }, 'list[0].name', 'body.list.0.name'],
    [{ list: [[{ name: 'x' }]] }, 'list[0]', 'body.list.0'],
    [{ list: [[]] }, 'list[0]', 'body.list.0'],
    [{ list: [null] }, 'list[0]', 'body.list.0'],
    [{ list: { name: 'x' } }, 'list', 'body.list'],
    [[], null, 'body'],
    [undefined, null, 'body'],
  ])('%j is refused at %s, which vLLM calls %s', (body, param, vllmParam) => {
    expect(refusalOf(body)).toMatchObject({ param, vllmParam });
  });

  it('gives parameters to engines', () => {
    expect(engineFields(MadeUp)).toEqual(['share']);
    expect(engineParametersOf(read({ share: 0 }))).toEqual({ cacheHitThreshold: 0 });
    expect(engineParametersOf(read({ share: null }))).toBeUndefined();
  });

  it('has a schema with its bounds, its nested fields and null for what may be absent', () => {
    const optional = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
    const inner = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    expect(schemaOf(MadeUp)).toEqual({
      type: 'object',
      properties: {
        size: optional({ type: 'string' }),
        list: optional({ type: 'array', items: inner }),
        share: optional({ type: 'integer', minimum: 0, maximum: 9 }),
      },
    });
  });
});

describe('a field that only some bodies need', () => {
  it('is not required by the schema', () => {
    expect(schemaOf(ToolField)['required']).toBeUndefined();
  });

  it.each([
    [{ type: 'function' }, 'function'],
    [{ type: 'custom', function: { name: 'f' } }, 'custom'],
  ])('is missing in %j', (tool, field) => {
    expect(() => checkedBody(ToolField, tool, { dialect: 'vllm' })).toThrow(`'${field}'`);
  });
});

describe('a body of another endpoint', () => {
  it.each([
    [{ prompt: 'x' }, '/v1/completions'],
    [{ input: 'x' }, '/v1/responses'],
  ])('%j is refused with the path of that one', (body, path) => {
    const check = () => checkedBody(ChatCompletionRequest, body, { dialect: 'openai' });
    expect(check).toThrow(path);
  });
});
