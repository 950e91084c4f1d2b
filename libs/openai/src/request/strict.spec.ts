import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { renderError } from '../refusal/render-error';
import { describe, expect, it } from 'vitest';
import type { RequestLimits, Strictness } from '../limits';
import { parseChat } from './parse-chat';
import { parseCompletion } from './parse-completion';

const tokenizer = defaultTokenizer();
const limits: RequestLimits = { dialect: 'vllm', tokenizer, models: ['m'], maxModelLen: 300 };
const BARE: Strictness = { toolCallParser: undefined, enableAutoToolChoice: false };
const WITH_PARSER: Strictness = { toolCallParser: 'hermes', enableAutoToolChoice: true };

type Endpoint = 'chat' | 'completions';
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const TOOLS = [{ type: 'function', function: { name: 'f', parameters: {} } }];

/** The `error` of the answer. Undefined: the body is served. */
function refusal(endpoint: Endpoint, body: object, strict?: Strictness): unknown {
  const own = strict === undefined ? limits : { ...limits, strict };
  try {
    if (endpoint === 'chat') parseChat({ messages: MESSAGES, ...body }, own);
    else parseCompletion({ prompt: 'Hi', ...body }, own);
    return undefined;
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    const rendered = renderError(error, 'vllm');
    expect(rendered.status).toBe(400);
    return (JSON.parse(rendered.body) as { error: unknown }).error;
  }
}

const bad = (message: string, param: string | null = null) => ({
  message,
  type: 'BadRequestError',
  param,
  code: 400,
});
/** vLLM names the parameter in some errors. */
const named = (message: string, param: string) => bad(message, param);
const schema = (field: string, message: string) => ({
  message,
  type: 'Bad Request',
  param: `body.${field}`,
  code: 400,
});
const below = (kind: string, field: string, least: number, got: number): string =>
  `Invalid '${field}': ${kind} below minimum value. Expected a value >= ${least}, but got ${got} ` +
  'instead.';
const above = (kind: string, field: string, most: number, got: number): string =>
  `Invalid '${field}': ${kind} above maximum value. Expected a value <= ${most}, but got ${got} ` +
  'instead.';
const positive = (field: string): string =>
  `Invalid '${field}': expected a value > 0, but got 0 instead.`;

const int64 = (field: string): string =>
  `Invalid '${field}': expected an integer from -9223372036854775808 to 9223372036854775807.`;

type Row = [condition: string, body: object, error: object, endpoints?: readonly Endpoint[]];

/** wire.md 1.2 to 1.4 of the reference: these apply with and without strict. */
const ALWAYS: readonly Row[] = [
  [
    'a presence penalty out of range',
    { presence_penalty: 2.5 },
    bad(above('decimal', 'presence_penalty', 2, 2.5)),
  ],
  [
    'a frequency penalty out of range',
    { frequency_penalty: -3 },
    bad(below('decimal', 'frequency_penalty', -2, -3)),
  ],
  [
    'a negative temperature',
    { temperature: -1 },
    named(below('decimal', 'temperature', 0, -1), 'temperature'),
  ],
  [
    'a temperature above 2',
    { temperature: 2.5 },
    named(above('decimal', 'temperature', 2, 2.5), 'temperature'),
  ],
  ['top_p 0', { top_p: 0 }, named(positive('top_p'), 'top_p')],
  ['top_k -2', { top_k: -2 }, bad(below('integer', 'top_k', -1, -2))],
  ['min_p 2', { min_p: 2 }, bad(above('decimal', 'min_p', 1, 2))],
  ['repetition_penalty 0', { repetition_penalty: 0 }, bad(positive('repetition_penalty'))],
  ['max_tokens 0', { max_tokens: 0 }, named(below('integer', 'max_tokens', 1, 0), 'max_tokens')],
  [
    'max_tokens beyond the context',
    { max_tokens: 301 },
    named(
      'max_tokens is too large: 301. This model supports at most 300 completion tokens, ' +
        'whereas you provided 301.',
      'max_tokens',
    ),
  ],
  ['a negative min_tokens', { min_tokens: -1 }, bad(below('integer', 'min_tokens', 0, -1))],
  [
    'min_tokens above max_tokens',
    { min_tokens: 9, max_tokens: 8 },
    bad('min_tokens must be less than or equal to max_tokens=8, got 9.'),
  ],
  ['n 0', { n: 0 }, bad(below('integer', 'n', 1, 0))],
  ['n 16,385', { n: 16_385 }, bad(above('integer', 'n', 16_384, 16_385))],
  [
    'several greedy choices',
    { n: 2, temperature: 0 },
    bad('n must be 1 when using greedy sampling, got 2.'),
  ],
  [
    'too many logprobs',
    { logprobs: 21 },
    named(above('integer', 'logprobs', 20, 21), 'logprobs'),
    ['completions'],
  ],
  [
    'too many top_logprobs',
    { logprobs: true, top_logprobs: 21 },
    named(above('integer', 'top_logprobs', 20, 21), 'top_logprobs'),
    ['chat'],
  ],
  [
    'an empty stop string',
    { stop: ['a', ''] },
    bad(
      "Invalid 'stop': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ),
  ],
  [
    'stream options without a stream',
    { stream_options: {} },
    named('Stream options can only be defined when `stream=True`.', 'stream_options'),
  ],
  [
    'prompt logprobs of a stream',
    { prompt_logprobs: 1, stream: true },
    named('`prompt_logprobs` are not available when `stream=True`.', 'prompt_logprobs'),
  ],
  [
    'no prompt',
    { prompt: null },
    named('Either prompt or prompt_embeds must be provided and non-empty.', 'prompt'),
    ['completions'],
  ],
  [
    'several constraints',
    { structured_outputs: { json: {}, regex: 'a' } },
    bad(
      "You can only use one kind of constraints for structured outputs ('json', 'regex' or " +
        "'choice').",
    ),
  ],
  [
    'a tool choice without tools',
    { tool_choice: 'auto' },
    named('When using `tool_choice`, `tools` must be set.', 'tool_choice'),
    ['chat'],
  ],
  [
    'an unknown tool choice',
    { tools: TOOLS, tool_choice: 'some' },
    named(
      'Invalid value for `tool_choice`: some! Only named tools, "none", "auto" or ' +
        '"required" are supported.',
      'tool_choice',
    ),
    ['chat'],
  ],
  [
    'a tool choice that names no tool',
    { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'g' } } },
    named(
      'The tool specified in `tool_choice` does not match any of the specified `tools`',
      'tool_choice',
    ),
    ['chat'],
  ],
  [
    'no tools in their list',
    { tools: [] },
    named(
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty " +
        'array instead.',
      'tools',
    ),
    ['chat'],
  ],
  [
    'both template flags',
    { continue_final_message: true, add_generation_prompt: true },
    bad('Cannot set both `continue_final_message` and `add_generation_prompt` to True.'),
    ['chat'],
  ],
  ['a seed beyond 64 bits', { seed: 2 ** 63 }, schema('seed', int64('seed'))],
  ['a suffix', { suffix: 'x' }, bad('suffix is not currently supported'), ['completions']],
];

/** Checks that `strict` adds. */
const STRICT: readonly Row[] = [
  [
    'the final message continued under the default template flags',
    { continue_final_message: true },
    bad('Cannot set both `continue_final_message` and `add_generation_prompt` to True.'),
    ['chat'],
  ],
  [
    'automatic tools without a parser',
    { tools: TOOLS },
    bad('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ['chat'],
  ],
  [
    'required tools without a parser',
    { tools: TOOLS, tool_choice: 'required' },
    bad('tool_choice="required" requires --tool-call-parser to be set'),
    ['chat'],
  ],
  ['a priority beyond 64 bits', { priority: 1e19 }, schema('priority', int64('priority'))],
  [
    'a stream interval of 0',
    { stream_interval: 0 },
    schema('stream_interval', below('integer', 'stream_interval', 1, 0)),
  ],
  [
    'a negative start of routed experts',
    { routed_experts_prompt_start: -1 },
    schema('routed_experts_prompt_start', below('integer', 'routed_experts_prompt_start', 0, -1)),
  ],
  ...(
    [
      ['length_penalty', 'a number'],
      ['skip_special_tokens', 'a boolean'],
      ['spaces_between_special_tokens', 'a boolean'],
      ['add_special_tokens', 'a boolean'],
      ['ec_transfer_params', 'an object'],
      ['vllm_xargs', 'an object with strings, numbers or lists of them'],
      ['logprob_token_ids', 'an array of integers'],
    ] as const
  ).map(([field, expected]): Row => {
    const message = `Invalid type for '${field}': expected ${expected}, but got a string instead.`;
    return [`${field} of the wrong type`, { [field]: 'x' }, schema(field, message)];
  }),
];

const both: readonly Endpoint[] = ['chat', 'completions'];

/** One case per endpoint to which the condition applies. */
const cases = (rows: readonly Row[]) =>
  rows.flatMap(([condition, body, error, endpoints = both]) =>
    endpoints.map((endpoint) => ({ condition, body, error, endpoint })),
  );

describe("vLLM's validation", () => {
  it.each(cases(ALWAYS))('refuses $condition on $endpoint, strict or not', (row) => {
    expect(refusal(row.endpoint, row.body)).toEqual(row.error);
    expect(refusal(row.endpoint, row.body, WITH_PARSER)).toEqual(row.error);
  });

  it.each(cases(STRICT))('refuses $condition on $endpoint in this way only when strict', (row) => {
    expect(refusal(row.endpoint, row.body)).not.toEqual(row.error);
    expect(refusal(row.endpoint, row.body, BARE)).toEqual(row.error);
  });

  it.each(both)(
    'refuses a stream of beam search on %s with a message of its own when strict',
    (endpoint) => {
      const body = { use_beam_search: true, stream: true };
      const message = 'Streaming is not currently supported with beam search';
      expect(refusal(endpoint, body, BARE)).toEqual(bad(message));
    },
  );

  it('accepts tools on a server with a parser', () => {
    for (const tool_choice of ['auto', 'required', undefined]) {
      expect(refusal('chat', { tools: TOOLS, tool_choice }, WITH_PARSER)).toBeUndefined();
    }
    const parserAlone = { ...WITH_PARSER, enableAutoToolChoice: false };
    expect(refusal('chat', { tools: TOOLS, tool_choice: 'required' }, parserAlone)).toBeUndefined();
    expect(refusal('chat', { tools: TOOLS }, parserAlone)).toBeDefined();
  });

  it.each(both)('accepts a plain request to %s, with unknown fields, when strict', (endpoint) => {
    const body = { max_tokens: 5, temperature: 0, seed: 2 ** 53, best_of: 1, verbosity: 'low' };
    expect(refusal(endpoint, { ...body, made_up: true }, BARE)).toBeUndefined();
  });
});
