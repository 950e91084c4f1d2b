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
/** vLLM names the parameter, with its value if there is one. */
const named = (message: string, param: string, value?: string) =>
  bad(`${message} (parameter=${param}${value === undefined ? '' : `, value=${value}`})`, param);
const schema = (type: string, field: string, rest: string) => ({
  message: `1 validation error:\n  {'type': '${type}', 'loc': ('body', '${field}'), ${rest}}`,
  type: 'Bad Request',
  param: `body.${field}`,
  code: 400,
});

type Row = [condition: string, body: object, error: object, endpoints?: readonly Endpoint[]];

/** wire.md 1.2 to 1.4 of the reference: these apply with and without strict. */
const ALWAYS: readonly Row[] = [
  [
    'a presence penalty out of range',
    { presence_penalty: 2.5 },
    bad('presence_penalty must be in [-2, 2], got 2.5.'),
  ],
  [
    'a frequency penalty out of range',
    { frequency_penalty: -3 },
    bad('frequency_penalty must be in [-2, 2], got -3.0.'),
  ],
  [
    'a negative temperature',
    { temperature: -1 },
    named('temperature must be non-negative, got -1.0.', 'temperature', '-1.0'),
  ],
  [
    'a temperature above 2',
    { temperature: 2.5 },
    named('temperature must be in [0, 2], got 2.5.', 'temperature', '2.5'),
  ],
  ['top_p 0', { top_p: 0 }, named('top_p must be in (0, 1], got 0.0.', 'top_p', '0.0')],
  ['top_k -2', { top_k: -2 }, bad('top_k must be 0 (disable), or at least 1, got -2.')],
  ['min_p 2', { min_p: 2 }, bad('min_p must be in [0, 1], got 2.0.')],
  [
    'repetition_penalty 0',
    { repetition_penalty: 0 },
    bad('repetition_penalty must be greater than zero, got 0.0.'),
  ],
  [
    'max_tokens 0',
    { max_tokens: 0 },
    named('max_tokens must be at least 1, got 0.', 'max_tokens', '0'),
  ],
  [
    'max_tokens beyond the context',
    { max_tokens: 301 },
    named(
      'max_tokens=301 cannot be greater than max_model_len=max_total_tokens=300. Please ' +
        'request fewer output tokens.',
      'max_tokens',
      '301',
    ),
  ],
  [
    'a negative min_tokens',
    { min_tokens: -1 },
    bad('min_tokens must be greater than or equal to 0, got -1.'),
  ],
  [
    'min_tokens above max_tokens',
    { min_tokens: 9, max_tokens: 8 },
    bad('min_tokens must be less than or equal to max_tokens=8, got 9.'),
  ],
  ['n 0', { n: 0 }, bad('n must be at least 1, got 0.')],
  ['n 16,385', { n: 16_385 }, bad('n must be at most 16384, got 16385.')],
  [
    'several greedy choices',
    { n: 2, temperature: 0 },
    bad('n must be 1 when using greedy sampling, got 2.'),
  ],
  [
    'too many logprobs',
    { logprobs: 21 },
    named(
      'Requested sample logprobs of 21, which is greater than max allowed: 20',
      'logprobs',
      '21',
    ),
    ['completions'],
  ],
  [
    'too many top_logprobs',
    { logprobs: true, top_logprobs: 21 },
    named(
      'Requested sample logprobs of 21, which is greater than max allowed: 20',
      'top_logprobs',
      '21',
    ),
    ['chat'],
  ],
  ['an empty stop string', { stop: ['a', ''] }, bad('stop cannot contain an empty string.')],
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
      '`tools` must not be an empty array. Either provide at least one tool or omit the ' +
        'field entirely.',
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
  [
    'a seed beyond 64 bits',
    { seed: 1e19 },
    schema(
      'less_than_equal',
      'seed',
      "'msg': 'Input should be less than or equal to 9223372036854775807', 'input': " +
        '10000000000000000000',
    ),
  ],
  [
    'a stream interval of 0',
    { stream_interval: 0 },
    schema(
      'greater_than_equal',
      'stream_interval',
      "'msg': 'Input should be greater than or equal to 1', 'input': 0, 'ctx': {'ge': 1}",
    ),
  ],
  [
    'a negative start of routed experts',
    { routed_experts_prompt_start: -1 },
    schema(
      'greater_than_equal',
      'routed_experts_prompt_start',
      "'msg': 'Input should be greater than or equal to 0', 'input': -1, 'ctx': {'ge': 0}",
    ),
  ],
  ...(
    [
      ['length_penalty', 'x', 'float_type', 'Input should be a valid number'],
      ['skip_special_tokens', 'x', 'bool_type', 'Input should be a valid boolean'],
      ['spaces_between_special_tokens', 'x', 'bool_type', 'Input should be a valid boolean'],
      ['add_special_tokens', 'x', 'bool_type', 'Input should be a valid boolean'],
      ['ec_transfer_params', 'x', 'dict_type', 'Input should be a valid dictionary'],
      ['vllm_xargs', 'x', 'dict_type', 'Input should be a valid dictionary'],
      ['logprob_token_ids', 'x', 'list_type', 'Input should be a valid list'],
    ] as const
  ).map(([field, value, type, message]): Row => {
    const error = schema(type, field, `'msg': '${message}', 'input': '${value}'`);
    return [`${field} of the wrong type`, { [field]: value }, error];
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
