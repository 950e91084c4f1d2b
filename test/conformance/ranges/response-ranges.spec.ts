import { BatonError } from '@baton/contract';
import {
  itemsPage,
  newConversationBody,
  parseResponse,
  readResponse,
  renderResponseError,
  type ResponseItem,
  startingAfter,
} from '@baton/responses';
import { describe, expect, it } from 'vitest';
import { limitsOf } from '../endpoints';
import { beyond, LAST_TOKEN, many, MAX_MODEL_LEN } from './range';

const STEP = 1e-9;
const newId = (prefix: string): string => `${prefix}_1`;
const item = (index: number): ResponseItem => ({ type: 'message', id: `msg_${index}` });
const pairs = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
const weather = { type: 'function', name: 'f' };

interface Range {
  /** With dots for a field within another one. */
  readonly field: string;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  readonly with?: object;
  /** The parameter in the refusal, when not the field itself. */
  readonly param?: string;
  /** The code, or those of `bad` in order; default: `invalid_value`. */
  readonly code?: string | readonly string[];
}

const PREVIOUS = { previous_response_id: 'resp_1' };
const OUTSIDE = beyond('decimal', 'below', 'above');

const RANGES: readonly Range[] = [
  { field: 'temperature', good: [0, 2], bad: [-STEP, 2 + STEP], code: OUTSIDE },
  { field: 'top_p', good: [0, 1], bad: [-STEP, 1 + STEP], code: OUTSIDE },
  { field: 'presence_penalty', good: [-2, 2], bad: [-2 - STEP, 2 + STEP], code: OUTSIDE },
  { field: 'frequency_penalty', good: [-2, 2], bad: [-2 - STEP, 2 + STEP], code: OUTSIDE },
  { field: 'repetition_penalty', good: [STEP, 5], bad: [0] },
  { field: 'top_k', good: [-1, 0, 1], bad: [-2], code: 'integer_below_min_value' },
  { field: 'min_p', good: [0, 1], bad: [-STEP, 1 + STEP], code: OUTSIDE },
  {
    field: 'top_logprobs',
    good: [0, 20],
    bad: [-1, 21],
    code: beyond('integer', 'below', 'above'),
  },
  {
    field: 'max_output_tokens',
    good: [16, 2_900],
    bad: [0, -1],
    code: 'integer_below_min_value',
  },
  { field: 'max_output_tokens', good: [], bad: [16.5, '16'], code: 'invalid_type' },
  { field: 'min_tokens', good: [0, 20], bad: [21], with: { max_output_tokens: 20 } },
  { field: 'min_tokens', good: [], bad: [-1], code: 'integer_below_min_value' },
  { field: 'max_tool_calls', good: [1, 1e6], bad: [0, -1], code: 'integer_below_min_value' },
  {
    field: 'metadata',
    good: [{}, pairs(16)],
    bad: [pairs(17)],
    code: 'object_above_max_properties',
  },
  {
    field: 'metadata',
    good: [{ ['k'.repeat(64)]: 'v'.repeat(512) }],
    bad: [{ ['k'.repeat(65)]: 'v' }, { k: 'v'.repeat(513) }, { k: 1 }],
    code: ['property_name_above_max_length', 'string_above_max_length', 'invalid_value'],
  },
  { field: 'truncation', good: ['auto', 'disabled'], bad: ['never', ''] },
  { field: 'include', good: [[], ['message.output_text.logprobs']], bad: [['x']] },
  { field: 'reasoning.effort', good: ['none', 'xhigh', null], bad: ['utmost', ''] },
  {
    field: 'text.format',
    good: [{ type: 'text' }],
    bad: [{ type: 'x' }],
    param: 'text.format.type',
  },
  { field: 'stop', good: ['x', many(4, 's')], bad: ['', ['']], code: 'empty_string' },
  { field: 'stop', good: [], bad: [many(5, 's')], code: 'array_above_max_length' },
  { field: 'stop_token_ids', good: [[0], [LAST_TOKEN]], bad: [[-1], [LAST_TOKEN + 1]] },
  { field: 'truncate_prompt_tokens', good: [-1, 1], bad: [-2, 0] },
  { field: 'n', good: [1, null], bad: [0, 2] },
  { field: 'best_of', good: [1], bad: [0, 2] },
  { field: 'echo', good: [false], bad: [true] },
  { field: 'background', good: [true, false], bad: [] },
  { field: 'background', good: [false], bad: [true], with: { store: false } },
  {
    field: 'previous_response_id',
    good: ['resp_1'],
    bad: [],
  },
  { field: 'previous_response_id', good: [null], bad: ['r'], with: { conversation: 'c' } },
  {
    field: 'tool_choice',
    good: ['none', 'auto', 'required', { type: 'function', name: 'f' }],
    bad: ['always', { type: 'function', name: 'g' }],
    with: { tools: [weather] },
  },
  {
    field: 'input',
    good: ['x', [{ role: 'user', content: 'x' }]],
    bad: ['', [], null, 'word '.repeat(3_000)],
    code: [
      ...['empty_string', 'empty_array'],
      'missing_required_parameter',
      'context_length_exceeded',
    ],
  },
  { field: 'input', good: ['', [], null], bad: [5], code: 'invalid_type', with: PREVIOUS },
];

function refusalOf(act: () => unknown): BatonError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
}

function bodyWith({ field, with: others }: Range, value: unknown): object {
  const [outer = '', inner] = field.split('.');
  const own = inner === undefined ? value : { [inner]: value };
  return { input: 'Hi', ...others, [outer]: own };
}

describe.each(['openai', 'vllm'] as const)('ranges of /v1/responses, %s', (dialect) => {
  const limits = limitsOf(dialect, MAX_MODEL_LEN);

  it.each(RANGES)('$field takes its edges, and nothing beyond', (range) => {
    const { field, param = field, code: codes = 'invalid_value' } = range;
    const ask = (value: unknown): BatonError | undefined =>
      refusalOf(() =>
        parseResponse(readResponse(bodyWith(range, value), newId, limits), [], limits),
      );
    for (const value of range.good) {
      expect(ask(value)?.message, JSON.stringify(value)).toBeUndefined();
    }
    for (const [index, value] of range.bad.entries()) {
      const shown = JSON.stringify(value).slice(0, 100);
      const found = ask(value);
      expect(found, shown).toBeDefined();
      const { status, body } = renderResponseError(found!);
      expect(status, shown).toBe(400);
      const { error } = JSON.parse(body) as { error: object };
      const code = typeof codes === 'string' ? codes : codes[index];
      expect(error, shown).toMatchObject({ type: 'invalid_request_error', param, code });
    }
  });
});

describe('ranges beside the body of a response', () => {
  const items = Array.from({ length: 101 }, (_, i) => item(i));

  it.each([
    ['limit', ['1', '100'], ['0', '101', '-1', 'x', '1.5']],
    ['order', ['asc', 'desc'], ['up', '']],
    ['after', ['msg_0', 'msg_100'], ['msg_101', '']],
  ])('%s of a page takes its edges, and nothing beyond', (name, good, bad) => {
    for (const value of good) {
      expect(refusalOf(() => itemsPage(items, { [name]: value }))?.message, value).toBeUndefined();
    }
    for (const value of bad) {
      expect(refusalOf(() => itemsPage(items, { [name]: value }))?.param, value).toBe(name);
    }
  });

  it('starting_after is an integer', () => {
    expect([startingAfter({}), startingAfter({ starting_after: '0' })]).toEqual([-1, 0]);
    for (const value of ['x', '1.5', '', '9'.repeat(10)]) {
      expect(refusalOf(() => startingAfter({ starting_after: value }))?.param).toBe(
        'starting_after',
      );
    }
  });

  it('a conversation takes 20 items at once, and no more', () => {
    const said = { role: 'user', content: 'x' };
    const begun = newConversationBody({ items: many(20, said) });
    expect((JSON.parse(begun) as { items: object[] }).items).toHaveLength(20);
    expect(refusalOf(() => newConversationBody({ items: many(21, said) }))?.param).toBe('items');
  });

  it.each([
    ['openai', true],
    ['vllm', false],
  ] as const)('has 16 output tokens at the least where OpenAI has: %s', (dialect, isRefused) => {
    const limits = limitsOf(dialect, MAX_MODEL_LEN);
    const body = { input: 'Hi', max_output_tokens: 15 };
    const refused = refusalOf(() => parseResponse(readResponse(body, newId, limits), [], limits));
    expect(refused !== undefined).toBe(isRefused);
  });
});
