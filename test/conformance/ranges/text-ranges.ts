import {
  beyond,
  LAST_TOKEN,
  many,
  MAX_MODEL_LEN,
  type Range,
  type RangesOf,
  schema,
} from './range';

const STEP = 1e-9;
const TOO_LONG = { code: 'context_length_exceeded' };

/** Of a decimal number below its range and above it. */
const OUTSIDE = beyond('decimal', 'below', 'above');
const LOGPROBS = beyond('integer', 'below', 'below', 'above');
/** The last is beyond the model's context. */
const LIMIT = [...beyond('integer', 'below', 'below'), 'invalid_value'];

/** Sampling fields, at every endpoint that takes vLLM's parameters. */
const SAMPLING: readonly Range[] = [
  {
    field: 'temperature',
    good: [0, 2],
    bad: [-STEP, 2 + STEP],
    code: OUTSIDE,
    vllmParam: 'temperature',
  },
  {
    field: 'top_p',
    good: [STEP, 1],
    bad: [0, 1 + STEP],
    vllmParam: 'top_p',
    code: ['invalid_value', 'decimal_above_max_value'],
  },
  { field: 'top_k', good: [-1, 0, 1], bad: [-2], code: 'integer_below_min_value' },
  { field: 'min_p', good: [0, 1], bad: [-STEP, 1 + STEP], code: OUTSIDE },
  { field: 'presence_penalty', good: [-2, 2], bad: [-2 - STEP, 2 + STEP], code: OUTSIDE },
  { field: 'frequency_penalty', good: [-2, 2], bad: [-2 - STEP, 2 + STEP], code: OUTSIDE },
  { field: 'repetition_penalty', good: [STEP, 5], bad: [0] },
  {
    field: 'n',
    good: [1, 128],
    bad: [0, 129],
    dialects: ['openai'],
    code: beyond('integer', 'below', 'above'),
  },
  { field: 'n', good: [1, 16_384], bad: [0, 16_385], dialects: ['vllm'] },
  {
    field: 'best_of',
    good: [1, 20],
    bad: [0, 21],
    dialects: ['openai'],
    code: beyond('integer', 'below', 'above'),
  },
  { field: 'best_of', good: [1, 16_384], bad: [0, 16_385], dialects: ['vllm'] },
  { field: 'best_of', good: [3], bad: [2], with: { n: 3 } },
  { field: 'min_tokens', good: [0, 9], bad: [10], with: { max_tokens: 9 } },
  { field: 'min_tokens', good: [], bad: [-1], code: 'integer_below_min_value' },
  {
    field: 'seed',
    good: [-(2 ** 63), 2 ** 63 - 1024],
    bad: [-(2 ** 63) - 2048, 2 ** 63],
    ...schema('seed', null),
  },
  {
    field: 'prompt_logprobs',
    good: [0, 20],
    bad: [-2, -1, 21],
    code: LOGPROBS,
    vllmParam: 'prompt_logprobs',
  },
  { field: 'stop', good: [['x'], many(4, 's')], bad: ['', ['']], code: 'empty_string' },
  { field: 'stop', good: [], bad: [many(5, 's')], ...schema('stop') },
  {
    field: 'stop_token_ids',
    good: [[0], [LAST_TOKEN]],
    bad: [[-1], [LAST_TOKEN + 1]],
    vllmParam: 'stop_token_ids',
  },
  {
    field: 'allowed_token_ids',
    good: [[0], [LAST_TOKEN]],
    bad: [[], [-1], [LAST_TOKEN + 1]],
    vllmParam: 'allowed_token_ids',
  },
  { field: 'bad_words', good: [['w'], many(128, 'w')], bad: [['']] },
  { field: 'bad_words', good: [], bad: [many(129, 'w')], ...schema('bad_words') },
  {
    field: 'logit_bias',
    good: [{ '0': -100 }, { [LAST_TOKEN]: 100 }],
    bad: [{ '5': -100.5 }],
    dialects: ['openai'],
    param: 'logit_bias.5',
  },
  {
    field: 'logit_bias',
    good: [{ '5': -100.5 }, { '5': 1e6 }],
    bad: [{ [LAST_TOKEN + 1]: 1 }],
    dialects: ['vllm'],
    vllmParam: 'logit_bias',
  },
  {
    field: 'truncate_prompt_tokens',
    good: [-1, 1, MAX_MODEL_LEN - 1],
    bad: [-2, 0],
    with: { max_tokens: 1 },
    vllmParam: 'truncate_prompt_tokens',
  },
  {
    field: 'truncate_prompt_tokens',
    good: [],
    bad: [MAX_MODEL_LEN + 1],
    with: { max_tokens: 1 },
  },
];

/** Further fields of chat and completions. */
const GENERATION: readonly Range[] = [
  { field: 'cache_hit_threshold', good: [0, 1], bad: [-STEP, 1 + STEP], code: OUTSIDE },
  { field: 'cache_salt', good: ['s'], bad: [''], code: 'empty_string', vllmParam: 'cache_salt' },
  { field: 'truncation_side', good: ['left', 'right'], bad: ['middle'] },
  {
    field: 'service_tier',
    good: ['auto', 'default', 'flex', 'scale', 'priority'],
    bad: ['none'],
  },
  {
    field: 'stream_options',
    good: [{ include_usage: true }],
    bad: [],
    with: { stream: true },
  },
  {
    field: 'stream_options',
    good: [],
    bad: [{ include_usage: true }],
    vllmParam: 'stream_options',
  },
];

const CHAT: readonly Range[] = [
  { field: 'messages', good: [[{ role: 'user', content: '' }]], bad: [[]], code: 'empty_array' },
  {
    field: 'max_tokens',
    good: [1, 250],
    bad: [-1, 0, MAX_MODEL_LEN + 1],
    code: LIMIT,
    vllmParam: 'max_tokens',
  },
  {
    field: 'max_completion_tokens',
    code: LIMIT,
    good: [1, 250],
    bad: [-1, 0, MAX_MODEL_LEN + 1],
    vllmParam: 'max_completion_tokens',
  },
  {
    field: 'top_logprobs',
    code: LOGPROBS,
    good: [0, 20],
    bad: [-2, -1, 21],
    with: { logprobs: true },
    vllmParam: 'top_logprobs',
  },
  {
    field: 'top_logprobs',
    good: [0],
    bad: [1],
    vllmParam: 'top_logprobs',
  },
  { field: 'thinking_token_budget', good: [-1, 0], bad: [-2], code: 'integer_below_min_value' },
  {
    field: 'tools',
    good: [[{ type: 'function', function: { name: 'f' } }]],
    bad: [[]],
    code: 'empty_array',
    vllmParam: 'tools',
  },
];

const COMPLETION: readonly Range[] = [
  {
    field: 'max_tokens',
    good: [1, 250],
    bad: [-1, 0, MAX_MODEL_LEN + 1],
    code: LIMIT,
    vllmParam: 'max_tokens',
  },
  {
    field: 'max_tokens',
    good: [0, 1],
    bad: [-1],
    with: { echo: true },
    code: LIMIT,
    vllmParam: 'max_tokens',
  },
  {
    field: 'max_tokens',
    good: [MAX_MODEL_LEN - 3],
    bad: [MAX_MODEL_LEN - 2],
    with: { prompt: [5, 5, 5] },
    ...TOO_LONG,
    param: 'prompt',
    vllmParam: 'input_tokens',
  },
  {
    field: 'prompt',
    good: [many(MAX_MODEL_LEN - 1, 5)],
    bad: [many(MAX_MODEL_LEN, 5), many(MAX_MODEL_LEN + 1, 5)],
    with: { max_tokens: 1 },
    ...TOO_LONG,
    vllmParam: 'input_tokens',
  },
  { field: 'prompt', good: ['', ['']], bad: [[]], vllmParam: 'prompt' },
  { field: 'prompt', good: [many(1024, 'x')], bad: [many(1025, 'x')] },
  { field: 'prompt', good: [[0], [LAST_TOKEN]], bad: [[LAST_TOKEN + 1]] },
  {
    field: 'prompt',
    good: [],
    bad: [[-1]],
    ...schema('prompt', 'invalid_type'),
    param: 'prompt[0]',
  },
  {
    field: 'logprobs',
    good: [0, 20],
    bad: [-2, -1, 21],
    code: LOGPROBS,
    vllmParam: 'logprobs',
  },
];

const MESSAGES: readonly Range[] = [
  { field: 'max_tokens', good: [1, 250], bad: [-1, 0] },
  { field: 'messages', good: [[{ role: 'user', content: '' }]], bad: [[]] },
  { field: 'stop_sequences', good: [[], many(4, 's')], bad: [] },
  { field: 'stop_sequences', good: [], bad: [many(5, 's')], ...schema('stop_sequences') },
  { field: 'temperature', good: [0, 1], bad: [-STEP, 1 + STEP], dialects: ['openai'] },
  { field: 'temperature', good: [0, 2], bad: [-STEP, 2 + STEP], dialects: ['vllm'] },
  { field: 'top_p', good: [STEP, 1], bad: [0, 1 + STEP] },
  { field: 'top_k', good: [-1, 0, 1], bad: [-2] },
  {
    field: 'thinking',
    good: [{ type: 'enabled', budget_tokens: 1024 }, { type: 'disabled' }],
    bad: [{ type: 'enabled', budget_tokens: 1023 }, { type: 'on' }],
    dialects: ['openai'],
    with: { max_tokens: 2_000 },
  },
  {
    field: 'thinking',
    good: [{ type: 'enabled', budget_tokens: 1 }],
    bad: [{ type: 'enabled', budget_tokens: 0 }],
    dialects: ['vllm'],
  },
];

export const TEXT_RANGES: readonly RangesOf[] = [
  {
    paths: ['/v1/chat/completions'],
    body: { messages: [{ role: 'user', content: 'Hi' }] },
    ranges: [...SAMPLING, ...GENERATION, ...CHAT],
  },
  {
    paths: ['/v1/completions'],
    body: { prompt: 'Hi' },
    ranges: [...SAMPLING, ...GENERATION, ...COMPLETION],
  },
  {
    paths: ['/inference/v1/generate'],
    body: { token_ids: [5], sampling_params: {} },
    ranges: [
      { field: 'token_ids', good: [[5]], bad: [[]], code: 'empty_array' },
      ...SAMPLING.map((range) => ({
        ...range,
        field: `sampling_params.${range.field}`,
        param: range.param ?? range.field,
      })),
    ],
  },
  {
    paths: ['/v1/messages'],
    body: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    ranges: MESSAGES,
  },
  {
    paths: ['/v1/messages/count_tokens'],
    body: { messages: [{ role: 'user', content: 'Hi' }] },
    ranges: [{ field: 'messages', good: [[{ role: 'user', content: '' }]], bad: [[]] }],
  },
];
