import Ajv2020 from 'ajv/dist/2020';
import { expect } from 'vitest';
import type { Observed, ObservedChoice } from './observed';
import { PROMPT, type Rule } from './rule';

const ajv = new Ajv2020({ strict: false });
const first = ({ choices }: Observed): ObservedChoice => choices[0]!;

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^[A-Z][a-z]+$' },
    legs: { type: 'array', items: { $ref: '#/$defs/leg' }, minItems: 1, maxItems: 4 },
  },
  required: ['name', 'legs'],
  additionalProperties: false,
  $defs: {
    leg: {
      type: 'object',
      properties: {
        metres: { enum: [100, 400] },
        note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['metres'],
    },
  },
};
const isValid = ajv.compile(schema);
const tool = (name: string) => ({ type: 'function', function: { name, parameters: schema } });
const tools = [tool('run'), tool('rest')];
/** Shares a word with the question. */
const fitting = {
  type: 'function',
  function: { name: 'run', description: 'Hands over the baton.', parameters: schema },
};
const room = { max_tokens: 400 };
const chat = ['chat'] as const;
const both = ['chat', 'completions'] as const;
/** Where there are tools. */
const talks = ['chat', 'responses'] as const;

function expectCalls(seen: Observed, names: readonly string[], reason: string): void {
  const { calls, text, finishReason } = first(seen);
  expect(calls.length).toBeGreaterThan(0);
  for (const call of calls) {
    expect(names).toContain(call.name);
    expect(isValid(JSON.parse(call.arguments)), call.arguments).toBe(true);
  }
  expect(text).toBe('');
  expect(finishReason).toBe(reason);
}

function expectJson(seen: Observed): void {
  expect(isValid(JSON.parse(first(seen).text)), first(seen).text).toBe(true);
  expect(first(seen).finishReason).toBe('stop');
}

/** Rules of answers with more, or less, freedom than sentences. */
export const PART_RULES: readonly Rule[] = [
  {
    name: 'response_format json_object gives an object',
    body: { ...room, response_format: { type: 'json_object' } },
    check: (seen) => expect(JSON.parse(first(seen).text)).toBeTypeOf('object'),
  },
  {
    name: 'response_format json_schema gives what validates',
    body: {
      ...room,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true } },
    },
    check: expectJson,
  },
  {
    name: 'stop is not applied to JSON',
    body: {
      ...room,
      stop: ['}', '{', '"'],
      response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
    },
    check: expectJson,
  },
  {
    name: 'stop is not applied to structured outputs',
    body: { ...room, stop: ['b'], structured_outputs: { regex: 'a+b+c' } },
    check: (seen) => expect(first(seen).text).toMatch(/^a+b+c$/),
  },
  {
    name: 'structured_outputs json gives what validates',
    body: { ...room, structured_outputs: { json: schema } },
    check: expectJson,
  },
  {
    name: 'structured_outputs choice gives one of them',
    body: { structured_outputs: { choice: ['öst', 'väst'] } },
    check: (seen) => expect(['öst', 'väst']).toContain(first(seen).text),
  },
  {
    name: 'structured_outputs grammar gives a text of it',
    body: {
      structured_outputs: { grammar: 'root ::= "go" (" " ("on" | "off"))+' },
      max_tokens: 200,
    },
    check: (seen) => expect(first(seen).text).toMatch(/^go( on| off)+$/),
  },
  {
    name: 'structural_tag puts tagged JSON into free text',
    endpoints: both,
    body: {
      ...room,
      response_format: {
        type: 'structural_tag',
        structures: [{ begin: '<f>', schema, end: '</f>' }],
        triggers: ['<f>'],
      },
    },
    check: (seen) => {
      const [, json] = /<f>(.*?)<\/f>/.exec(first(seen).text) ?? [];
      expect(isValid(JSON.parse(json ?? 'null'))).toBe(true);
    },
  },
  {
    name: 'a limit that nothing fits ends with length',
    body: { max_tokens: 16, structured_outputs: { json: { const: 'long '.repeat(20) } } },
    check: (seen) => {
      expect(first(seen).finishReason).toBe('length');
      expect(seen.usage?.completion_tokens).toBe(16);
    },
  },
  {
    name: 'tool_choice required calls with arguments that validate',
    endpoints: talks,
    body: { ...room, tools, tool_choice: 'required' },
    check: (seen) => expectCalls(seen, ['run', 'rest'], 'tool_calls'),
  },
  {
    name: 'tool_choice by name calls that one and ends with stop',
    endpoints: talks,
    body: { ...room, tools, tool_choice: { type: 'function', function: { name: 'rest' } } },
    check: (seen, { endpoint }) => {
      expectCalls(seen, ['rest'], endpoint === 'responses' ? 'tool_calls' : 'stop');
      expect(first(seen).calls).toHaveLength(1);
    },
  },
  {
    name: 'allowed_tools leave the others alone',
    endpoints: talks,
    body: {
      ...room,
      tools,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [{ type: 'function', function: { name: 'rest' } }],
        },
      },
    },
    check: (seen) => expectCalls(seen, ['rest'], 'tool_calls'),
  },
  {
    name: 'parallel_tool_calls false calls once',
    endpoints: talks,
    body: (endpoint) => ({
      ...room,
      ...(endpoint === 'chat' ? { n: 8 } : {}),
      max_tokens: 100,
      tools,
      tool_choice: 'required',
      parallel_tool_calls: false,
    }),
    check: ({ choices }) => {
      for (const { calls } of choices) expect(calls).toHaveLength(1);
    },
  },
  {
    name: 'tool_choice none answers in text, and the tools cost prompt tokens',
    endpoints: talks,
    body: { tools, tool_choice: 'none' },
    check: (seen, _path, plain) => {
      expect(first(seen).calls).toEqual([]);
      expect(first(seen).text).not.toBe('');
      expect(seen.usage?.prompt_tokens).toBeGreaterThan((plain.usage?.prompt_tokens ?? 0) + 50);
    },
  },
  {
    name: 'tool_choice auto calls a tool that fits the question',
    endpoints: talks,
    body: { ...room, tools: [fitting, tool('rest')] },
    check: (seen) => expectCalls(seen, ['run'], 'tool_calls'),
  },
  {
    name: 'tool_choice auto talks where no tool fits',
    endpoints: chat,
    body: { ...room, n: 12, max_tokens: 120, tools },
    check: ({ choices }) => {
      for (const { calls, text } of choices) {
        expect(calls).toEqual([]);
        expect(text).not.toBe('');
      }
    },
  },
  {
    name: 'stop is not applied to the arguments of tools',
    endpoints: talks,
    body: { ...room, stop: ['}', ':'], tools, tool_choice: 'required' },
    check: (seen) => expectCalls(seen, ['run', 'rest'], 'tool_calls'),
  },
  {
    name: 'after the result of a tool auto answers in text',
    endpoints: talks,
    body: (endpoint) => ({
      ...(endpoint === 'chat' ? { n: 6 } : {}),
      tools,
      messages: [
        { role: 'user', content: PROMPT },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', function: { name: 'run', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'done' },
      ],
    }),
    check: ({ choices }) => {
      for (const { calls, text } of choices) {
        expect(calls).toEqual([]);
        expect(text).not.toBe('');
      }
    },
  },
  {
    name: 'function_call works as a tool',
    endpoints: chat,
    body: { ...room, functions: [tool('run').function], function_call: { name: 'run' } },
    check: (seen) => expectCalls(seen, ['run'], 'stop'),
  },
  {
    name: 'calls have ids of their own',
    endpoints: chat,
    body: { ...room, n: 6, tools, tool_choice: 'required' },
    check: ({ choices }, { dialect }) => {
      const ids = choices.flatMap(({ calls }) => calls.map(({ id }) => id ?? ''));
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids)
        expect(id).toMatch(dialect === 'vllm' ? /^chatcmpl-tool-\w{32}$/ : /^call_\w{24}$/);
    },
  },
  {
    name: 'reasoning comes before the content and is counted',
    endpoints: talks,
    body: { reasoning_effort: 'low', thinking_token_budget: 12 },
    check: (seen, { dialect }) => {
      expect(first(seen).reasoning).not.toBe('');
      expect(first(seen).text).not.toBe('');
      expect(seen.usage?.completion_tokens).toBe(40);
      if (dialect !== 'openai') return;
      const counted = seen.usage?.completion_tokens_details?.reasoning_tokens ?? 0;
      expect(counted).toBeGreaterThan(0);
      expect(counted).toBeLessThanOrEqual(12);
    },
  },
  {
    name: 'include_reasoning false hides it',
    endpoints: chat,
    body: { reasoning_effort: 'low', thinking_token_budget: 12, include_reasoning: false },
    check: (seen) => {
      expect(first(seen).reasoning).toBe('');
      expect(first(seen).text).not.toBe('');
    },
  },
  {
    name: 'an image costs what the model spends on one',
    endpoints: talks,
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: PROMPT },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
    },
    check: (seen, _path, plain) => {
      expect(seen.usage?.prompt_tokens).toBe((plain.usage?.prompt_tokens ?? 0) + 1 + 64);
    },
  },
];
