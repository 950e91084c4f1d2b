import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { RequestLimits } from '../limits';
import { parseChat } from './parse-chat';
import { parseCompletion } from './parse-completion';

const tokenizer = defaultTokenizer();
const limits: RequestLimits = { dialect: 'openai', tokenizer, models: ['m'], maxModelLen: 4096 };
const parsers = {
  chat: (body: object) =>
    parseChat({ messages: [{ role: 'user', content: 'Hi' }], ...body }, limits),
  completions: (body: object) => parseCompletion({ prompt: 'Hi', ...body }, limits),
};

const schema = {
  type: 'object',
  properties: { a: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
};
const format = (more: object) => ({ response_format: { type: 'json_schema', json_schema: more } });

describe.each(['chat', 'completions'] as const)('structured output of %s', (endpoint) => {
  const parse = parsers[endpoint];
  const textOf = (body: object): string | undefined =>
    parse(body).constraint?.write(1, { ease: 2 });

  function refusal(body: object): BatonError {
    try {
      parse(body);
    } catch (error) {
      if (error instanceof BatonError) return error;
      throw error;
    }
    return expect.fail(`accepted: ${JSON.stringify(body)}`);
  }

  it.each<[object, RegExp]>([
    [{ response_format: { type: 'json_object' } }, /^\{".*\}$/],
    [format({ name: 'n', schema, strict: true }), /^\{"a": -?\d+\}$/],
    [format({ name: 'n' }), /^\{.*\}$/],
    [format({ name: 'n', schema: true }), /./],
    [{ structured_outputs: { json: schema } }, /^\{"a": -?\d+\}$/],
    [{ structured_outputs: { json: JSON.stringify(schema) } }, /^\{"a": -?\d+\}$/],
    [{ structured_outputs: { json: schema, disable_any_whitespace: true } }, /^\{"a":-?\d+\}$/],
    [{ structured_outputs: { json: schema, whitespace_pattern: '\\n?' } }, /^\{"a":-?\d+\}$/],
    [
      { structured_outputs: { json: { type: 'object' }, disable_additional_properties: true } },
      /^\{\}$/,
    ],
    [{ structured_outputs: { json_object: true } }, /^\{".*\}$/],
    [{ structured_outputs: { regex: 'a{3}b' } }, /^aaab$/],
    [{ structured_outputs: { choice: ['x', 'y'] } }, /^[xy]$/],
    [{ structured_outputs: { grammar: 'root ::= "p" | "q"' } }, /^[pq]$/],
    [{ guided_json: schema }, /^\{"a": -?\d+\}$/],
    [{ guided_json: JSON.stringify(schema) }, /^\{"a": -?\d+\}$/],
    [{ guided_json: schema, guided_whitespace_pattern: '\\n?' }, /^\{"a":-?\d+\}$/],
    [{ guided_regex: 'a{3}b' }, /^aaab$/],
    [{ guided_choice: ['x', 'y'] }, /^[xy]$/],
    [{ guided_grammar: 'root ::= "p" | "q"' }, /^[pq]$/],
    [
      {
        structured_outputs: {
          structural_tag: JSON.stringify({
            type: 'structural_tag',
            format: { type: 'const_string', value: 'hi' },
          }),
        },
      },
      /^hi$/,
    ],
    [
      {
        response_format: { type: 'structural_tag', format: { type: 'const_string', value: 'hi' } },
      },
      /^hi$/,
    ],
    [{ structured_outputs: { regex: 'a', json: null, json_object: false } }, /^a$/],
  ])('%j constrains the text', (body, expected) => {
    expect(textOf(body)).toMatch(expected);
  });

  it('is none for plain text, and for guided fields that are null', () => {
    const guided = { guided_json: null, guided_regex: null, guided_whitespace_pattern: ' ' };
    expect(parse({ response_format: { type: 'text' }, ...guided }).constraint).toBeUndefined();
  });

  it.each([
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [format({ schema }), 'response_format.json_schema.name'],
    [format({ name: 'has spaces', schema }), 'response_format.json_schema.name'],
    [format({ name: 'n', schema: 5 }), 'response_format.json_schema.schema'],
    [format({ name: 'n', schema: { type: 'nope' } }), 'response_format.json_schema.schema'],
    [
      format({ name: 'n', schema: { allOf: [{ type: 'string' }, { type: 'null' }] } }),
      'response_format.json_schema.schema',
    ],
    [{ guided_regex: 'a', guided_choice: ['a'] }, 'structured_outputs'],
    [{ guided_regex: 'a', structured_outputs: { regex: 'a' } }, 'structured_outputs'],
    [{ guided_regex: 'a', response_format: { type: 'json_object' } }, 'structured_outputs'],
    [{ guided_regex: '(' }, 'guided_regex'],
    [{ guided_regex: '' }, 'guided_regex'],
    [{ guided_choice: [] }, 'guided_choice'],
    [{ guided_json: '5' }, 'guided_json'],
    [{ response_format: { type: 'structural_tag' } }, 'response_format'],
    [{ structured_outputs: {} }, 'structured_outputs'],
    [{ structured_outputs: { regex: 'a', choice: ['b'] } }, 'structured_outputs'],
    [
      { structured_outputs: { regex: 'a' }, response_format: { type: 'json_object' } },
      'structured_outputs',
    ],
    [{ structured_outputs: { regex: '(' } }, 'structured_outputs.regex'],
    [{ structured_outputs: { regex: '' } }, 'structured_outputs.regex'],
    [{ structured_outputs: { regex: 5 } }, 'structured_outputs.regex'],
    [{ structured_outputs: { choice: [] } }, 'structured_outputs.choice'],
    [{ structured_outputs: { choice: [1] } }, 'structured_outputs.choice'],
    [{ structured_outputs: { grammar: 'root ::= x' } }, 'structured_outputs.grammar'],
    [{ structured_outputs: { json: '{' } }, 'structured_outputs.json'],
    [{ structured_outputs: { json: { minimum: 'x' } } }, 'structured_outputs.json'],
    [{ structured_outputs: { structural_tag: '{}' } }, 'structured_outputs.structural_tag'],
  ])('%j is refused', (body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_value', param });
  });

  it('that cannot be met is refused with the schema and the place in it', () => {
    const deep = { type: 'object', properties: { x: { enum: [] } }, required: ['x'] };
    expect(refusal(format({ name: 'answer', schema: deep })).message).toBe(
      "Invalid schema for response_format 'answer': no listed value fits (at '/properties/x').",
    );
    expect(refusal(format({ name: 'answer', schema: { enum: [] } })).message).toMatch(
      /no listed value fits \(at the top\)/,
    );
  });

  it('with too many levels is refused', () => {
    let nested: object = {};
    for (let i = 0; i < 100_000; i++) nested = { not: nested };
    const error = refusal({ structured_outputs: { json: nested } });
    expect([error.code, error.entry.status]).toEqual(['invalid_type', 400]);
  });
});
