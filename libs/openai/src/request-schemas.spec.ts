import Ajv2020 from 'ajv/dist/2020';
import { describe, expect, it } from 'vitest';
import { requestSchemas } from './request-schemas';

const ajv = new Ajv2020({ strict: false });
const schemas = requestSchemas();
const CHAT = { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] };

describe('the schemas of requests', () => {
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
