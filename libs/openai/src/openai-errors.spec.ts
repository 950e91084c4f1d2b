import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { type Dialect } from './refusal/dialect';
import { renderError } from './refusal/render-error';
import { describe, expect, it } from 'vitest';
import { parseChat } from './request/parse-chat';
import { parseCompletion } from './request/parse-completion';

const tokenizer = defaultTokenizer();
const messages = [{ role: 'user', content: 'Hi' }];
const tool = { type: 'function', function: { name: 'f' } };

type Parse = typeof parseChat;

function answerTo(parse: Parse, body: object, dialect: Dialect, more: object = {}): unknown {
  try {
    parse(body, { dialect, tokenizer, models: ['m'], maxModelLen: 4096, ...more });
    return undefined;
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    return (JSON.parse(renderError(error, dialect).body) as { error: object }).error;
  }
}

const chat = (more: object): unknown => answerTo(parseChat, { messages, ...more }, 'openai');

const sentences = (...all: string[]): string => all.join(' ');

describe('errors of OpenAI in a chat', () => {
  it.each([
    [
      { temperature: 3 },
      'temperature',
      'decimal_above_max_value',
      sentences(
        `Invalid 'temperature': decimal above maximum value.`,
        'Expected a value <= 2, but got 3 instead.',
      ),
    ],
    [
      { presence_penalty: -2.5 },
      'presence_penalty',
      'decimal_below_min_value',
      sentences(
        `Invalid 'presence_penalty': decimal below minimum value.`,
        'Expected a value >= -2, but got -2.5 instead.',
      ),
    ],
    [
      { max_completion_tokens: 0 },
      'max_completion_tokens',
      'integer_below_min_value',
      sentences(
        `Invalid 'max_completion_tokens': integer below minimum value.`,
        'Expected a value >= 1, but got 0 instead.',
      ),
    ],
    [
      { max_tokens: -1 },
      'max_tokens',
      'integer_below_min_value',
      sentences(
        `Invalid 'max_tokens': integer below minimum value.`,
        'Expected a value >= 1, but got -1 instead.',
      ),
    ],
    [
      { logprobs: true, top_logprobs: 21 },
      'top_logprobs',
      'integer_above_max_value',
      sentences(
        `Invalid 'top_logprobs': integer above maximum value.`,
        'Expected a value <= 20, but got 21 instead.',
      ),
    ],
    [
      { n: 129 },
      'n',
      'integer_above_max_value',
      sentences(
        `Invalid 'n': integer above maximum value.`,
        'Expected a value <= 128, but got 129 instead.',
      ),
    ],
    [
      { messages: undefined },
      'messages',
      'missing_required_parameter',
      "Missing required parameter: 'messages'.",
    ],
    [
      { messages: [] },
      'messages',
      'empty_array',
      sentences(
        `Invalid 'messages': empty array.`,
        'Expected an array with minimum length 1, but got an empty array instead.',
      ),
    ],
    [
      { messages: 'Hi' },
      'messages',
      'invalid_type',
      "Invalid type for 'messages': expected an array of objects, but got a string instead.",
    ],
    [
      { messages: [{ role: 'robot', content: 'x' }] },
      'messages[0].role',
      'invalid_value',
      sentences(
        "Invalid value: 'robot'.",
        "Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      ),
    ],
    [
      { messages: [{ role: 'user' }] },
      'messages[0].content',
      'missing_required_parameter',
      "Missing required parameter: 'messages[0].content'.",
    ],
    [
      { messages: [{ role: 'user', content: null }] },
      'messages[0].content',
      'invalid_type',
      "Invalid type for 'messages[0].content': expected one of a string or array of objects, " +
        'but got null instead.',
    ],
    [
      { stop: ['a', 'b', 'c', 'd', 'e'] },
      'stop',
      'array_above_max_length',
      sentences(
        `Invalid 'stop': array too long.`,
        'Expected an array with maximum length 4, but got an array with length 5 instead.',
      ),
    ],
    [
      { tools: Array.from({ length: 129 }, () => tool) },
      'tools',
      'array_above_max_length',
      sentences(
        `Invalid 'tools': array too long.`,
        'Expected an array with maximum length 128, but got an array with length 129 instead.',
      ),
    ],
    [
      { stop: '' },
      'stop',
      'empty_string',
      sentences(
        `Invalid 'stop': empty string.`,
        'Expected a string with minimum length 1, but got an empty string instead.',
      ),
    ],
    [
      { max_tokenz: 5 },
      'max_tokenz',
      'unknown_parameter',
      "Unknown parameter: 'max_tokenz'. Did you mean 'max_tokens'?",
    ],
    [
      { stream: true, stream_options: { include_usages: true } },
      'stream_options.include_usages',
      'unknown_parameter',
      "Unknown parameter: 'stream_options.include_usages'. Did you mean 'include_usage'?",
    ],
    [
      { messages: [...messages, { role: 'user', content: 'x', nmae: 'y' }] },
      'messages[1].nmae',
      'unknown_parameter',
      "Unknown parameter: 'messages[1].nmae'. Did you mean 'name'?",
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', args: '' } }] }] },
      'messages[0].tool_calls[0].function.args',
      'unknown_parameter',
      "Unknown parameter: 'messages[0].tool_calls[0].function.args'.",
    ],
    [
      { tools: [tool, { type: 'custom', custom: { name: 'g', grammar: 'x' } }] },
      'tools[1].custom.grammar',
      'unknown_parameter',
      "Unknown parameter: 'tools[1].custom.grammar'.",
    ],
  ])('%j gives the field, a code and the bound', (more, param, code, message) => {
    expect(chat(more)).toEqual({ message, type: 'invalid_request_error', param, code });
  });

  it('may lack content beside the calls of an assistant', () => {
    const called = { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f' } }] };
    const result = { role: 'tool', tool_call_id: 'c', content: '5' };
    expect(chat({ messages: [...messages, called, result] })).toBeUndefined();
  });
});

describe('undocumented fields', () => {
  const body = { messages, max_tokenz: 5 };

  it('are refused at completions too', () => {
    const error = answerTo(parseCompletion, { prompt: 'x', max_tokenz: 5 }, 'openai');
    expect(error).toMatchObject({ code: 'unknown_parameter', param: 'max_tokenz' });
  });

  it('are ignored by configuration, and always in the vllm dialect', () => {
    expect(answerTo(parseChat, body, 'openai', { acceptsUnknownFields: true })).toBeUndefined();
    expect(answerTo(parseChat, body, 'vllm')).toBeUndefined();
    const inner = { messages: [{ ...messages[0], nmae: 'y' }] };
    expect(answerTo(parseChat, inner, 'vllm')).toBeUndefined();
  });

  it('do not include fields that such servers and clients send', () => {
    const options = {
      include_usage: true,
      include_obfuscation: false,
      continuous_usage_stats: true,
    };
    const sent = {
      stream: true,
      stream_options: options,
      vllm_xargs: {},
      bootstrap_room: 5,
      rid: 'r',
      nvext: {},
      prompt_token_ids: [1],
      metadata: {},
      store: false,
      prompt_cache_key: 'k',
      verbosity: 'low',
    };
    expect(chat(sent)).toBeUndefined();
    const called = { name: 'f', arguments: '{}', parsed_arguments: {} };
    const answered = {
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      parsed: null,
      tool_calls: [{ index: 0, id: 'c', type: 'function', function: called }],
    };
    const shown = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
    const spoken = [{ role: 'user', content: [shown], cache_control: {} }, answered];
    expect(chat({ messages: spoken, tools: [tool] })).toBeUndefined();
    expect(answerTo(parseCompletion, { prompt: 'x', ...sent }, 'openai')).toBeUndefined();
  });
});

describe('values that vLLM passes to the model', () => {
  it.each([
    [[{ role: 'critic', content: 'x' }]],
    [[{ role: 'user' }]],
    [[{ role: 'user', content: null }]],
  ])('is served in its dialect: %j', (messages) => {
    expect(answerTo(parseChat, { messages }, 'vllm')).toBeUndefined();
  });
});
