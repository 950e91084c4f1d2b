import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import { ConstraintError } from '../constraint-error';
import type { Json } from '../json';
import { SchemaText } from './schema-text';

// Optimising the code of a schema takes longer than its few runs.
const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
addFormats(ajv);

function check(schema: object | boolean, seeds = 60): string[] {
  const validate = ajv.compile(schema);
  const text = new SchemaText(schema as Json);
  return Array.from({ length: seeds * 4 }, (_, i) => {
    const seed = i >> 2;
    const ease = i & 3;
    const json = text.write(seed, { ease });
    expect(text.write(seed, { ease })).toBe(json);
    const value: unknown = JSON.parse(json);
    if (!validate(value)) {
      expect.fail(`seed ${seed} ease ${ease}: ${json} ${ajv.errorsText(validate.errors)}`);
    }
    return json;
  });
}

const CASES: Record<string, object | boolean> = {
  anything: true,
  empty: {},
  string: { type: 'string' },
  list: { type: ['string', 'null', 'integer'] },
  bounds: { type: 'integer', minimum: 5, exclusiveMaximum: 9, multipleOf: 2 },
  cents: { type: 'number', multipleOf: 0.01, minimum: 0.05, maximum: 4 },
  open: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  tiny: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1e-300 },
  steps: { allOf: [{ multipleOf: 6 }, { multipleOf: 4 }], type: 'integer', minimum: 1 },
  big: { type: 'integer', minimum: 1e15, maximum: 2e15 },
  pattern: { type: 'string', pattern: '^[A-Z]{2}\\d+$', maxLength: 5 },
  two: { allOf: [{ pattern: 'a.c' }, { pattern: '^.{5}$' }], type: 'string' },
  lengths: { type: 'string', minLength: 7, maxLength: 9 },
  enum: { enum: [1, 'a', null, { b: 2 }] },
  filtered: { enum: [1, 'a', 'bb', null], type: 'string', minLength: 2 },
  object: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } },
    required: ['a', 'd'],
    additionalProperties: { type: 'number' },
  },
  strict: {
    type: 'object',
    properties: { a: { type: 'array', items: { $ref: '#/$defs/x' } } },
    required: ['a'],
    additionalProperties: false,
    $defs: { x: { type: 'object', properties: { y: { const: 5 } }, required: ['y'] } },
  },
  tree: {
    type: 'object',
    properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['value', 'children'],
  },
  linked: {
    type: 'object',
    properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
    required: ['next'],
  },
  oneOf: {
    oneOf: [
      { type: 'number', multipleOf: 5 },
      { type: 'number', multipleOf: 3 },
    ],
  },
  overlapping: { oneOf: [{ type: 'integer' }, { type: 'number' }] },
  not: { not: { type: ['string', 'object', 'array'] } },
  notPattern: { type: 'string', not: { pattern: '^a' }, pattern: '^[ab]{3}$' },
  tuple: {
    type: 'array',
    prefixItems: [{ type: 'integer' }, { const: 'x' }],
    items: false,
    minItems: 2,
  },
  unique: { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 3 },
  uniqueNumbers: {
    type: 'array',
    items: { type: 'integer', minimum: 1, maximum: 50 },
    uniqueItems: true,
    minItems: 50,
  },
  uniqueFlags: { type: 'array', items: { type: 'boolean' }, uniqueItems: true, minItems: 2 },
  contains: {
    type: 'array',
    items: { type: 'integer' },
    contains: { minimum: 90 },
    minContains: 2,
    maxItems: 4,
  },
  maxContains: {
    type: 'array',
    items: { enum: [1, 2] },
    contains: { const: 1 },
    maxContains: 1,
    minItems: 3,
  },
  patterns: {
    type: 'object',
    patternProperties: { '^x-': { type: 'integer' } },
    minProperties: 2,
    additionalProperties: false,
  },
  names: { type: 'object', propertyNames: { pattern: '^[a-c]{2}$' }, minProperties: 4 },
  depends: {
    type: 'object',
    properties: { a: {}, b: {}, c: {} },
    dependentRequired: { a: ['b'], b: ['c'] },
    minProperties: 1,
  },
  dependsOn: {
    type: 'object',
    properties: { a: { type: 'integer' } },
    dependentSchemas: { a: { required: ['z'] } },
  },
  condition: {
    type: 'object',
    properties: { kind: { enum: ['a', 'b'] } },
    required: ['kind'],
    if: { properties: { kind: { const: 'a' } } },
    then: { required: ['x'] },
    else: { required: ['y'] },
  },
  tagged: {
    oneOf: [
      {
        type: 'object',
        properties: { k: { const: 'a' }, v: { type: 'string' } },
        required: ['k', 'v'],
      },
      {
        type: 'object',
        properties: { k: { const: 'b' }, v: { type: 'integer' } },
        required: ['k', 'v'],
      },
    ],
  },
  merged: {
    allOf: [
      { type: 'object', properties: { a: { type: 'integer', minimum: 3 } }, required: ['a'] },
      { properties: { a: { maximum: 4 }, b: { type: 'string' } }, required: ['b'] },
    ],
  },
  unevaluated: {
    allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }],
    type: 'object',
    properties: { b: { type: 'string' } },
    unevaluatedProperties: false,
  },
  unevaluatedItems: {
    type: 'array',
    prefixItems: [{ type: 'string' }],
    unevaluatedItems: false,
    minItems: 1,
  },
  anchors: {
    $id: 'https://example.com/root',
    $ref: '#thing',
    $defs: { t: { $anchor: 'thing', type: 'integer' } },
  },
  ids: {
    $ref: 'other.json',
    $id: 'https://example.com/a.json',
    $defs: { o: { $id: 'other.json', const: 'here' } },
  },
  proto: JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"integer"},' +
      '"constructor":{"type":"string"}},"required":["__proto__","constructor","toString"]}',
  ) as object,
  hints: { properties: { a: { minimum: 5 } }, required: ['a'] },
  suggestions: { type: 'string', default: 'red', examples: ['green', 5] },
};

describe('a text of a schema', () => {
  it.each(Object.entries(CASES))('%s is JSON that ajv accepts', (_name, schema) => {
    check(schema, runsOf(60));
  });

  it.each([
    ...[
      'date',
      'time',
      'date-time',
      'duration',
      'email',
      'hostname',
      'ipv4',
      'ipv6',
      'uri',
      'uuid',
    ],
    ...['uri-reference', 'uri-template', 'json-pointer', 'relative-json-pointer', 'regex', 'byte'],
  ])('has the format %s, also together with a pattern and lengths', (format) => {
    check({ type: 'string', format });
    check({ type: 'string', format, pattern: '[^]', maxLength: 60 });
  });

  it('ignores unknown formats', () => {
    expect(new SchemaText({ type: 'string', format: 'poem' }).write(1, { ease: 0 })).toMatch(/^"/);
  });

  it.each([
    { type: 'string', pattern: '^(a+)+$', minLength: 500 },
    {
      type: 'array',
      items: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' },
      minItems: 3,
    },
    { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } },
    { type: 'array', items: { $ref: '#' }, minItems: 2 },
    { type: 'object', additionalProperties: { $ref: '#' }, minProperties: 3 },
    { allOf: Array.from({ length: 12 }, () => ({ anyOf: [false, { type: 'array' }, false] })) },
    { type: 'array', minItems: 1e9 },
    { type: 'string', minLength: 1e12 },
  ])('of hard schema %# ends with a text or a refusal', (schema) => {
    try {
      new SchemaText(schema as Json).write(1, { ease: 3 });
    } catch (error) {
      expect(error).toBeInstanceOf(ConstraintError);
    }
  });

  it('differs between seeds', () => {
    expect(new Set(check({ type: 'string', minLength: 20 })).size).toBeGreaterThan(50);
  });

  it('chooses every alternative for some seed', () => {
    expect(new Set(check({ enum: [1, 2, 3] })).size).toBe(3);
    expect(new Set(check({ anyOf: [{ const: 1 }, { const: 2 }, { const: 3 }] })).size).toBe(3);
  });

  it('is shorter at a lower ease', () => {
    const text = new SchemaText(CASES['tree'] as Json);
    for (let seed = 0; seed < 50; seed++) {
      const lengths = [0, 3].map((ease) => text.write(seed, { ease }).length);
      expect(lengths[0]).toBeLessThan(lengths[1]!);
    }
  });
});

describe('a schema that cannot be met', () => {
  it.each([
    [
      {
        type: 'object',
        properties: { a: { type: 'integer', minimum: 5, maximum: 4 } },
        required: ['a'],
      },
      '/properties/a',
    ],
    [false, ''],
    [{ type: 'array', items: { anyOf: [false, { enum: [] }] }, minItems: 1 }, '/items/anyOf/0'],
    [{ $ref: '#' }, ''],
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '/properties/a'],
    [{ type: 'string', pattern: '^a$', minLength: 2 }, ''],
    [{ allOf: [{ type: 'string' }, { type: 'integer' }] }, ''],
    [{ properties: { a: { type: 'text' } } }, '/properties/a/type'],
    [{ properties: { a: { pattern: '(' } } }, '/properties/a/pattern'],
    [{ properties: { 'a/b': { $ref: '#/$defs/x' } } }, '/properties/a~1b/$ref'],
    [{ properties: [] }, '/properties'],
    [{ required: 'a' }, '/required'],
    [{ minimum: '5' }, '/minimum'],
    [{ items: { multipleOf: 0 } }, '/items/multipleOf'],
    [{ type: 'array', items: { type: 'boolean' }, uniqueItems: true, minItems: 3 }, '/items'],
    [{ type: 'object', additionalProperties: false, required: ['a'] }, '/additionalProperties'],
    [{ type: 'string', minLength: 5, maxLength: 4 }, ''],
    [{ not: {} }, '/not'],
    [{ type: 'integer', not: { type: 'number' } }, ''],
    [{ type: 'object', maxProperties: 1, required: ['a', 'b'] }, ''],
  ])('%j is refused with the place of the fault', (schema, pointer) => {
    try {
      new SchemaText(schema as Json);
    } catch (error) {
      expect(error).toBeInstanceOf(ConstraintError);
      expect((error as ConstraintError).pointer).toBe(pointer);
      return;
    }
    expect.fail('accepted');
  });
});
