import Ajv2020 from 'ajv/dist/2020';
import { type JsonSchema, parseChat } from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { requestSchemas } from './request-schemas';

const ajv = new Ajv2020({ strict: false });
const schemas = requestSchemas();
const limits = {
  dialect: 'vllm' as const,
  models: ['m'],
  maxModelLen: 100_000,
  tokenizer: defaultTokenizer(),
  strict: { toolCallParser: undefined, enableAutoToolChoice: false },
};
const STEP = 1e-9;

/** Values at the bounds of a schema, and one step inside and outside of them. */
function probes(field: JsonSchema): unknown[] {
  const { type, minimum, maximum, exclusiveMinimum } = field;
  if (Array.isArray(field['enum'])) return [...(field['enum'] as unknown[]), 'made up', ''];
  const step = type === 'integer' ? 1 : STEP;
  return [minimum, maximum, exclusiveMinimum]
    .filter((edge) => typeof edge === 'number')
    .flatMap((edge) => [edge - step, edge, edge + step]);
}

function isServed(body: object): boolean {
  try {
    parseChat(body, limits);
    return true;
  } catch {
    return false;
  }
}

const CHAT = { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] };

const BOUNDED = Object.entries(
  schemas.ChatCompletionRequest['properties'] as Record<string, JsonSchema>,
).flatMap(([name, schema]) => {
  const [field] = (schema['anyOf'] ?? [schema]) as JsonSchema[];
  const values = field === undefined ? [] : probes(field);
  return values.length === 0 ? [] : [{ name, values }];
});

describe('the schemas of requests', () => {
  it.each(BOUNDED)('limit $name as the rules do', ({ name, values }) => {
    for (const value of values) {
      const body = { ...CHAT, max_tokens: 5, [name]: value };
      // Other fields decide whether zero is allowed.
      if (/^max_.*tokens$/.test(name) && value === 0) continue;
      expect(isServed(body), `${name}: ${String(value)}`).toBe(
        ajv.validate(schemas.ChatCompletionRequest, body),
      );
    }
  });

  it('set limits for many fields', () => expect(BOUNDED.length).toBeGreaterThan(12));

  it.each(Object.entries(schemas))('%s is a JSON Schema with fields', (_name, schema) => {
    expect(ajv.validateSchema(schema)).toBe(true);
    expect(Object.keys(schema['properties'] as object).length).toBeGreaterThan(0);
  });

  it.each([
    ['a body', CHAT, true],
    ['null for what may be absent', { ...CHAT, seed: null, stop: null }, true],
    ['fields that nobody knows', { ...CHAT, made_up: 1 }, true],
    ['one of the forms of a field', { ...CHAT, stop: ['a', 'b'] }, true],
    ['a body without what is required', {}, false],
    ['null for what is required', { messages: null }, false],
    ['a wrong type', { ...CHAT, n: '1' }, false],
    ['a wrong type in the depth', { messages: [{ role: 5 }] }, false],
    ['too many entries', { ...CHAT, stop: ['a', 'b', 'c', 'd', 'e'] }, false],
    ['none of the forms of a field', { ...CHAT, stop: 5 }, false],
  ])('judge %s as the rules do', (_name, body, isFit) => {
    expect(ajv.validate(schemas.ChatCompletionRequest, body)).toBe(isFit);
  });
});
