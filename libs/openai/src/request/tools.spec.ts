import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { RequestLimits } from '../limits';
import { parseChat } from './parse-chat';

const tokenizer = defaultTokenizer();
const limits: RequestLimits = { dialect: 'openai', tokenizer, models: ['m'], maxModelLen: 4096 };
const messages = [{ role: 'user', content: 'Hi' }];
const parse = (body: object, more: Partial<RequestLimits> = {}) =>
  parseChat({ messages, ...body }, { ...limits, ...more });

function refusal(body: object, more: Partial<RequestLimits> = {}): BatonError {
  try {
    parse(body, more);
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  return expect.fail(`accepted: ${JSON.stringify(body)}`);
}

const tool = (name: string, parameters?: object) => ({
  type: 'function',
  function: { name, ...(parameters === undefined ? {} : { parameters }) },
});
const tools = [tool('a'), tool('b', { type: 'object', properties: { x: { type: 'integer' } } })];
const named = (name: string) => ({ type: 'function', function: { name } });
const allowed = (mode: string, ...names: string[]) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(named) },
});

function summary(body: object, more: Partial<RequestLimits> = {}) {
  const { tools: offer, calls } = parse(body, more);
  return {
    names: offer?.tools.map(({ name }) => name),
    isRequired: offer?.isRequired,
    isParallel: offer?.isParallel,
    ...calls,
  };
}

describe('tool_choice auto', () => {
  const weather = tool('get_weather', { type: 'object' });
  const search = {
    type: 'function',
    function: { name: 'lookUp', description: 'Searches the orders of a customer.' },
  };
  const both = [weather, search];
  const user = (content: unknown) => ({ role: 'user', content });
  const call = (name: string) => ({
    role: 'assistant',
    tool_calls: [{ id: 'c', function: { name, arguments: '{}' } }],
  });
  const result = { role: 'tool', tool_call_id: 'c', content: '5' };
  const offerFor = (asked: readonly object[], body: object, more: Partial<RequestLimits> = {}) => {
    const { callProbability, preferred } = parse({ messages: asked, ...body }, more).tools!;
    return [callProbability, preferred];
  };

  it.each([
    ['How is the weather in Paris?', ['get_weather']],
    ['WEATHER!', ['get_weather']],
    ['Where is my order?', ['lookUp']],
    ['Search the web for weather', ['get_weather']],
    [[{ type: 'text', text: 'the weather, please' }], ['get_weather']],
    ['Which customer asked about the weather?', ['get_weather', 'lookUp']],
  ])("calls a tool whose name or description shares a word with the user's %j", (text, names) => {
    expect(offerFor([user(text)], { tools: both })).toEqual([1, names]);
  });

  it.each(['Who are you?', 'What is the use of a tool?', ''])(
    'answers %j in text when no tool fits',
    (text) => {
      expect(offerFor([user(text)], { tools: both })).toEqual([0, []]);
    },
  );

  it('calls the only tool for any message of a user', () => {
    expect(offerFor([user('Hi')], { tools: [weather] })).toEqual([1, []]);
  });

  it.each([
    ['the last message', [result]],
    ['two results', [result, result]],
    ['text of the user after it', [result, user('the weather')]],
    ['a result of the older kind', [{ role: 'function', name: 'get_weather', content: '5' }]],
  ])('answers in text after the result of a tool: %s', (_what, messages) => {
    const asked = [user('the weather'), call('get_weather'), ...messages];
    for (const more of [{}, { toolCallProbability: 1 }]) {
      expect(offerFor(asked, { tools: both }, more)[0]).toBe(0);
    }
  });

  it('calls again after a new message of the user', () => {
    const answered = [call('get_weather'), result, { role: 'assistant', content: 'Rain.' }];
    const asked = [user('the weather'), ...answered, user('and the weather tomorrow?')];
    expect(offerFor(asked, { tools: both })).toEqual([1, ['get_weather']]);
  });

  it('prefers uncalled tools when a call is required after a result', () => {
    const asked = [user('the weather'), call('get_weather'), result];
    const body = { tools: both, tool_choice: 'required' };
    expect(offerFor(asked, body)).toEqual([0, ['lookUp']]);
    expect(offerFor([...asked, call('lookUp'), result], body)).toEqual([0, []]);
  });

  it('calls with the configured probability, for any message', () => {
    expect(offerFor([user('Hi')], { tools: both }, { toolCallProbability: 0.3 })).toEqual([
      0.3,
      [],
    ]);
    const [chance] = offerFor([user('weather')], { tools: both }, { toolCallProbability: 0.3 });
    expect(chance).toBe(0.3);
  });
});

describe('tool_choice', () => {
  const usual = { isParallel: true, kind: 'tools', finishReason: 'tool_calls' };

  it.each([
    [{}, { names: ['a', 'b'], isRequired: false, ...usual }],
    [{ tool_choice: 'auto' }, { names: ['a', 'b'], isRequired: false, ...usual }],
    [{ tool_choice: 'required' }, { names: ['a', 'b'], isRequired: true, ...usual }],
    [{ parallel_tool_calls: false }, { isParallel: false }],
    [
      { tool_choice: named('b') },
      { names: ['b'], isRequired: true, isParallel: false, finishReason: 'stop' },
    ],
    [{ tool_choice: allowed('auto', 'a') }, { names: ['a'], isRequired: false, ...usual }],
    [{ tool_choice: allowed('required', 'b') }, { names: ['b'], isRequired: true, ...usual }],
  ])('%j determines the called tools', (body, expected) => {
    expect(summary({ tools, ...body })).toMatchObject(expected);
  });

  it('none calls no tool, and keeps the tools in the prompt', () => {
    const request = parse({ tools, tool_choice: 'none' });
    expect(request.tools).toBeUndefined();
    expect(tokenizer.decode(request.prompts[0]!.ids)).toContain('"name":"a"');
  });

  it.each([
    [{ tools, tool_choice: 'maybe' }, 'tool_choice', 'Invalid value for `tool_choice`: maybe!'],
    [{ tools, tool_choice: {} }, 'tool_choice', 'Invalid value'],
    [{ tools, tool_choice: named('c') }, 'tool_choice', 'does not match any'],
    [{ tools, tool_choice: allowed('auto', 'c') }, 'tool_choice', 'does not match any'],
    [{ tools, tool_choice: allowed('none', 'a') }, 'tool_choice', 'Invalid value'],
    [{ tools, tool_choice: allowed('auto') }, 'tool_choice', 'Invalid value'],
    [{ tool_choice: 'auto' }, 'tool_choice', 'When using `tool_choice`, `tools` must be set.'],
    [{ tools: [] }, 'tools', "Invalid 'tools': empty array."],
    [
      { tools: [{ type: 'web_search', function: { name: 'x' } }] },
      'tools[0].type',
      "must be 'function' or 'custom'",
    ],
    [{ tools: [tool('no spaces')] }, 'tools[0].function.name', 'letters, digits'],
    [{ tools: Array.from({ length: 129 }, () => tool('a')) }, 'tools', 'maximum length 128'],
  ])('bad choice %# is refused', (body, param, message) => {
    const error = refusal(body);
    expect(error).toMatchObject({ code: 'invalid_value', param });
    expect(error.message).toContain(message);
  });

  it.each([
    [{ tools: 'x' }, 'tools'],
    [{ tools: [5] }, 'tools[0]'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ tools: [{ function: {} }] }, 'tools[0].function.name'],
    [{ tools: [tool('a')], tool_choice: 5 }, 'tool_choice'],
    [{ tools: [tool('a')], parallel_tool_calls: 1 }, 'parallel_tool_calls'],
    [{ tools: [{ function: { name: 'a', parameters: [] } }] }, 'tools[0].function.parameters'],
  ])('%j has the wrong shape', (body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_type', param });
  });

  it('leaves names and numbers of tools free in the vllm dialect', () => {
    const many = Array.from({ length: 200 }, (_, i) => tool(`any name ${i}`));
    expect(parse({ tools: many }, { dialect: 'vllm' }).tools?.tools).toHaveLength(200);
  });
});

describe('parameters of a function', () => {
  it('give arguments as an object with the described properties', () => {
    const [, described] = parse({ tools }).tools!.tools;
    for (let seed = 0; seed < 30; seed++) {
      const json = described!.arguments.write(seed, { ease: 2 });
      expect(json).toMatch(/^\{("x": -?\d+)?\}$/);
    }
    const [bare] = parse({ tools }).tools!.tools;
    expect(bare!.arguments.write(1, { ease: 3 })).toBe('{}');
  });

  it('that cannot be met are refused with the place of the fault', () => {
    const impossible = tool('a', {
      type: 'object',
      properties: { x: { type: 'integer', minimum: 5, maximum: 4 } },
      required: ['x'],
    });
    const error = refusal({ tools: [impossible] });
    expect(error.param).toBe('tools[0].function.parameters');
    expect(error.message).toContain("Invalid schema for function 'a'");
    expect(error.message).toContain("'/properties/x'");
    expect(refusal({ tools: [tool('a', { type: 'string' })] }).param).toBe(
      'tools[0].function.parameters',
    );
  });
});

describe('functions and function_call', () => {
  const functions = [{ name: 'a' }, { name: 'b' }];

  it.each([
    [{}, { names: ['a', 'b'], isRequired: false, finishReason: 'function_call' }],
    [{ function_call: 'none' }, { names: undefined }],
    [{ function_call: { name: 'b' } }, { names: ['b'], isRequired: true, finishReason: 'stop' }],
  ])('%j works like tools, one call at a time', (body, expected) => {
    const found = summary({ functions, ...body });
    expect(found).toMatchObject({ kind: 'function', ...expected });
    expect(found.isParallel ?? false).toBe(false);
  });

  it.each([
    [{ functions, function_call: 'required' }, 'function_call'],
    [{ functions, function_call: { name: 'c' } }, 'function_call'],
    [{ functions, function_call: {} }, 'function_call'],
    [{ function_call: 'auto' }, 'function_call'],
    [{ functions, tools }, 'functions'],
    [{ functions: [{ name: 'no spaces' }] }, 'functions[0].name'],
    [{ functions: [{ name: 'a', parameters: { type: 'nonsense' } }] }, 'functions[0].parameters'],
  ])('%j is refused', (body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_value', param });
  });
});

describe('custom tools', () => {
  const custom = (format?: object) => ({
    type: 'custom',
    custom: { name: 'shell', ...(format === undefined ? {} : { format }) },
  });
  const inputOf = (format?: object): string =>
    parse({ tools: [custom(format)] }).tools!.tools[0]!.arguments.write(1, { ease: 2 });
  const grammar = (syntax: string, definition: string) => ({
    type: 'grammar',
    grammar: { syntax, definition },
  });

  it('get any text, or a text of their grammar', () => {
    expect(inputOf()).toMatch(/^[a-z ]+$/);
    expect(inputOf({ type: 'text' })).toMatch(/^[a-z ]+$/);
    expect(inputOf(grammar('regex', 'ls( -l)?'))).toMatch(/^ls( -l)?$/);
    expect(inputOf(grammar('lark', 'start: "a" | "b"'))).toMatch(/^[ab]$/);
    expect(
      parse({ tools: [custom()], tool_choice: { type: 'custom', custom: { name: 'shell' } } })
        .calls,
    ).toMatchObject({ finishReason: 'stop' });
  });

  it.each([
    [grammar('regex', '('), 'tools[0].custom.format'],
    [grammar('yacc', 'x'), 'tools[0].custom.format'],
    [{ type: 'poem' }, 'tools[0].custom.format'],
  ])('%j is refused', (format, param) => {
    expect(refusal({ tools: [custom(format)] })).toMatchObject({ code: 'invalid_value', param });
  });

  it('are refused in the vllm dialect', () => {
    const error = refusal({ tools: [custom()] }, { dialect: 'vllm' });
    expect(error.message).toContain("tools[0].type must be 'function'");
  });

  it('appear in the next prompt with their input', () => {
    const call = { id: 'c', type: 'custom', custom: { name: 'shell', input: 'ls -l' } };
    const request = parse({ messages: [...messages, { role: 'assistant', tool_calls: [call] }] });
    expect(tokenizer.decode(request.prompts[0]!.ids)).toContain(
      '<custom_call name="shell">\nls -l\n',
    );
  });
});
