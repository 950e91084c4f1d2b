import { RequestError } from '../refusal/request-error';
import { describe, expect, it } from 'vitest';
import {
  engineFields,
  engineParametersOf,
  ForEngine,
  Is,
  schemaOf,
  validateBody,
  Within,
} from './rules';
import { INTEGER, NUMBER, STRING } from './shapes';

class BaseDto {
  @Is(STRING)
  name?: string | null;

  @Is(NUMBER)
  @Within((value: number) => (value > 1 ? { message: 'share is too large' } : undefined), {
    maximum: 1,
  })
  @ForEngine('cacheHitThreshold')
  share?: number | null;
}

class MadeUpDto extends BaseDto {
  @Is(INTEGER, { isRequired: true })
  @Within((value: number, body: MadeUpDto) =>
    body.name === 'small' && value > 9 ? { message: 'count is not small' } : undefined,
  )
  count!: number;
}

const read = (body: object): MadeUpDto =>
  validateBody(new MadeUpDto(), body as Readonly<Record<string, unknown>>);

function refusalOf(body: object): { readonly message: string; readonly param: string | null } {
  try {
    read(body);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error('the body was let through');
}

describe('the rules of a body', () => {
  it('copy only declared fields, including those of the base', () => {
    const dto = read({ name: 'a', share: null, count: 3, other: 1, toString: 1 });
    expect({ ...dto }).toEqual({ name: 'a', share: null, count: 3 });
  });

  it('ignore properties that a body inherits', () => {
    expect(read(Object.assign(Object.create({ name: 'inherited' }), { count: 1 })).name).toBe(
      undefined,
    );
  });

  it('report errors of a class’s own fields before those of its base', () => {
    expect(refusalOf({ name: 1, count: '1' }).param).toBe('count');
    expect(refusalOf({ name: 1, count: 1 }).param).toBe('name');
  });

  it('check ranges only when every field has its shape', () => {
    expect(refusalOf({ share: 2, count: 'x' }).param).toBe('count');
    expect(refusalOf({ share: 2, count: 1 }).message).toBe('share is too large');
    expect(refusalOf({ name: 'small', count: 10 }).message).toBe('count is not small');
    expect(read({ name: 'large', count: 10 }).count).toBe(10);
  });

  it('name a missing field', () => {
    expect(refusalOf({}).param).toBe('count');
    expect(refusalOf({ count: null }).param).toBe('count');
  });

  it('give a schema with the base first, and with declared bounds', () => {
    expect(schemaOf(new MadeUpDto())).toEqual({
      type: 'object',
      properties: {
        name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        share: { anyOf: [{ type: 'number', maximum: 1 }, { type: 'null' }] },
        count: { type: 'integer' },
      },
      required: ['count'],
    });
  });

  it('list the fields that go to the engines, with their values', () => {
    expect(engineFields(new MadeUpDto())).toEqual(['share']);
    expect(engineParametersOf(read({ share: 0.5, count: 1 }))).toEqual({ cacheHitThreshold: 0.5 });
    expect(engineParametersOf(read({ share: 0, count: 1 }))).toEqual({ cacheHitThreshold: 0 });
    expect(engineParametersOf(read({ share: null, count: 1 }))).toBeUndefined();
  });
});
