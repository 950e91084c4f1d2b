import { workSpent } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { type Constraint, constrain } from './constrain';
import { ConstraintError } from './constraint-error';
import type { Json } from './json';

function texts(constraint: Constraint): string[] {
  const text = constrain(constraint);
  return Array.from({ length: 200 }, (_, i) => text.write(i >> 2, { ease: i & 3 }));
}

const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('a constrained text', () => {
  it('is any JSON object', () => {
    for (const text of texts({ kind: 'object' })) {
      expect(JSON.parse(text)).toBeTypeOf('object');
      expect(text).toMatch(/^\{"/);
    }
  });

  it('has no blanks with isCompact', () => {
    for (const text of texts({ kind: 'schema', schema: weather, isCompact: true })) {
      expect(text).toMatch(/^\{"city":"/);
    }
    expect(texts({ kind: 'schema', schema: weather })[0]).toMatch(/^\{"city": "/);
  });

  it('is one of the choices, each for some seed, and the shortest at ease 0', () => {
    const choices = ['positive', 'negative', 'no'];
    const text = constrain({ kind: 'choice', choices });
    const found = Array.from({ length: 60 }, (_, seed) => text.write(seed, { ease: 2 }));
    expect(new Set(found)).toEqual(new Set(choices));
    expect(text.write(7, { ease: 0 })).toBe('no');
  });

  it('matches the whole pattern', () => {
    for (const text of texts({ kind: 'regex', pattern: '\\w+@\\w+\\.com\\n' })) {
      expect(text).toMatch(/^\w+@\w+\.com\n$/);
    }
  });
});

describe('a constraint that was read', () => {
  it('is kept for the next request, until others have used much work', () => {
    const small: Constraint = { kind: 'regex', pattern: 'a+b?' };
    const kept = constrain(small);
    expect(constrain(small)).toBe(kept);
    const before = workSpent();
    let large: Constraint = small;
    for (let i = 0; workSpent() - before < 1_100_000; i++) {
      large = { kind: 'regex', pattern: `a{${i}}(b|c){1,2000}` };
      constrain(large);
    }
    expect(constrain(large)).toBe(constrain(large));
    expect(constrain(small)).not.toBe(kept);
  });
});

describe('a structural tag', () => {
  const begin = '<function=weather>';
  const end = '</function>';

  it('in the older form writes tagged JSON into free text', () => {
    const structures = [{ begin, schema: weather, end }];
    const tag = { type: 'structural_tag', structures, triggers: ['<function='] };
    for (const text of texts({ kind: 'structural-tag', tag })) {
      const found = [...text.matchAll(/<function=weather>(.*?)<\/function>/g)];
      expect(found.length).toBeGreaterThan(0);
      for (const [, json] of found) expect(JSON.parse(json!)).toHaveProperty('city');
    }
  });

  it.each<[string, Json, RegExp]>([
    [
      'a sequence',
      {
        type: 'sequence',
        elements: [
          { type: 'const_string', value: 'a' },
          { type: 'regex', pattern: 'b+' },
        ],
      },
      /^ab+$/,
    ],
    [
      'a choice',
      {
        type: 'or',
        elements: [
          { type: 'const_string', value: 'a' },
          { type: 'grammar', grammar: 'root ::= "b"' },
        ],
      },
      /^[ab]$/,
    ],
    [
      'a tag',
      {
        type: 'tag',
        begin,
        end: [end, '!'],
        content: { type: 'json_schema', json_schema: weather },
      },
      /^<function=weather>\{.*\}(<\/function>|!)$/,
    ],
    [
      'triggered tags',
      {
        type: 'triggered_tags',
        triggers: ['<f'],
        tags: [{ type: 'tag', begin, end, content: { type: 'json_schema', json_schema: weather } }],
        at_least_one: true,
        stop_after_first: true,
      },
      /^[^<]*<function=weather>\{[^<]*\}<\/function>$/,
    ],
    [
      'separated tags',
      {
        type: 'tags_with_separator',
        separator: ';',
        tags: [{ type: 'tag', begin: '<', end: '>', content: { type: 'any_text' } }],
        at_least_one: true,
      },
      /^<[^<>]*>(;<[^<>]*>)?$/,
    ],
    [
      'repetitions',
      {
        type: 'plus',
        content: { type: 'optional', content: { type: 'const_string', value: 'x' } },
      },
      /^x{0,2}$/,
    ],
  ])('writes %s', (_name, format, expected) => {
    for (const text of texts({ kind: 'structural-tag', tag: { type: 'structural_tag', format } })) {
      expect(text).toMatch(expected);
    }
  });

  it.each<[Json, string]>([
    [5, ''],
    [{ type: 'structural_tag' }, '/triggers'],
    [{ structures: [{ begin: 'x', schema: {}, end: '' }], triggers: ['<'] }, '/structures/0/begin'],
    [
      { structures: [{ begin: '<', schema: { type: 'x' }, end: '' }], triggers: ['<'] },
      '/structures/0/schema/type',
    ],
    [{ format: { type: 'poem' } }, '/format/type'],
    [{ format: { type: 'sequence', elements: [] } }, '/format/elements'],
    [
      { format: { type: 'tag', begin: 'x', end: 'y', content: { type: 'regex', pattern: '(' } } },
      '/format/content/pattern',
    ],
    [
      {
        format: {
          type: 'tag',
          begin: 'x',
          end: 'y',
          content: {
            type: 'json_schema',
            json_schema: { items: false, minItems: 1, type: 'array' },
          },
        },
      },
      '/format/content/json_schema',
    ],
  ])('%j is refused with the place of the fault', (tag, pointer) => {
    try {
      constrain({ kind: 'structural-tag', tag });
    } catch (error) {
      expect(error).toBeInstanceOf(ConstraintError);
      expect((error as ConstraintError).pointer).toBe(pointer);
      return;
    }
    expect.fail('accepted');
  });
});
