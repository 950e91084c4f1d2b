import { RequestError } from '@baton/refusal';
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
  it('copy the fields that are declared, those of the base too, and no others', () => {
    const dto = read({ name: 'a', share: null, count: 3, other: 1, toString: 1 });
    expect({ ...dto }).toEqual({ name: 'a', share: null, count: 3 });
  });

  it('take nothing that a body inherits', () => {
    expect(read(Object.assign(Object.create({ name: 'inherited' }), { count: 1 })).name).toBe(
      undefined,
    );
  });

  it('report what a class declares itself before what it extends', () => {
    expect(refusalOf({ name: 1, count: '1' }).param).toBe('count');
    expect(refusalOf({ name: 1, count: 1 }).param).toBe('name');
  });

  it('look at ranges when every field has its shape', () => {
    expect(refusalOf({ share: 2, count: 'x' }).param).toBe('count');
    expect(refusalOf({ share: 2, count: 1 }).message).toBe('share is too large');
    expect(refusalOf({ name: 'small', count: 10 }).message).toBe('count is not small');
    expect(read({ name: 'large', count: 10 }).count).toBe(10);
  });

  it('name a field that is missing', () => {
    expect(refusalOf({}).param).toBe('count');
    expect(refusalOf({ count: null }).param).toBe('count');
  });

  it('are a schema with the base first, and bounds where they are declared', () => {
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

  it('say which fields go to the engines, and with what value', () => {
    expect(engineFields(new MadeUpDto())).toEqual(['share']);
    expect(engineParametersOf(read({ share: 0.5, count: 1 }))).toEqual({ cacheHitThreshold: 0.5 });
    expect(engineParametersOf(read({ share: 0, count: 1 }))).toEqual({ cacheHitThreshold: 0 });
    expect(engineParametersOf(read({ share: null, count: 1 }))).toBeUndefined();
  });
});
