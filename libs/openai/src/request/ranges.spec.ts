import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { renderError } from '../errors/render-error';
import type { Dialect } from '../limits';
import { parseChat } from './parse-chat';
import { parseCompletion } from './parse-completion';

const tokenizer = defaultTokenizer();
const MAX_MODEL_LEN = 300;

interface Range {
  readonly field: string;
  /** Values on the edges. */
  readonly good: readonly unknown[];
  /** One step outside. */
  readonly bad: readonly unknown[];
  /** Other fields that it needs. */
  readonly with?: object;
  readonly endpoints?: readonly ('chat' | 'completions')[];
  readonly dialects?: readonly Dialect[];
  /** The field that is named, when not itself. */
  readonly param?: string;
}

const STEP = 1e-9;
const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `s${i}`);

const RANGES: readonly Range[] = [
  { field: 'temperature', good: [0, 2], bad: [-STEP, 2 + STEP] },
  { field: 'top_p', good: [STEP, 1], bad: [0, 1 + STEP] },
  { field: 'top_k', good: [-1, 0, 1], bad: [-2] },
  { field: 'min_p', good: [0, 1], bad: [-STEP, 1 + STEP] },
  { field: 'presence_penalty', good: [-2, 2], bad: [-2 - STEP, 2 + STEP] },
  { field: 'frequency_penalty', good: [-2, 2], bad: [-2 - STEP, 2 + STEP] },
  { field: 'repetition_penalty', good: [STEP, 5], bad: [0] },
  { field: 'n', good: [1, 16_384], bad: [0, 16_385] },
  { field: 'best_of', good: [1, 16_384], bad: [0, 16_385] },
  { field: 'best_of', good: [3], bad: [2], with: { n: 3 } },
  { field: 'max_tokens', good: [1, 250], bad: [-1, 0, MAX_MODEL_LEN + 1] },
  {
    field: 'max_completion_tokens',
    good: [1, 250],
    bad: [-1, 0, MAX_MODEL_LEN + 1],
    endpoints: ['chat'],
  },
  { field: 'min_tokens', good: [0, 9], bad: [-1, 10], with: { max_tokens: 9 } },
  { field: 'logprobs', good: [0, 20], bad: [-2, -1, 21], endpoints: ['completions'] },
  {
    field: 'top_logprobs',
    good: [0, 20],
    bad: [-2, -1, 21],
    with: { logprobs: true },
    endpoints: ['chat'],
  },
  { field: 'prompt_logprobs', good: [0, 20], bad: [-2, -1, 21] },
  {
    field: 'truncate_prompt_tokens',
    good: [-1, 1, 300],
    bad: [-2, 0, 301],
    with: { max_tokens: 1 },
  },
  { field: 'cache_hit_threshold', good: [0, 1], bad: [-STEP, 1 + STEP] },
  { field: 'thinking_token_budget', good: [-1, 0], bad: [-2], endpoints: ['chat'] },
  { field: 'stop', good: [['x'], texts(4)], bad: ['', ['']] },
  {
    field: 'logit_bias',
    good: [{ '5': -100 }, { '5': 100 }],
    bad: [{ '5': -100.5 }, { '5': 100.5 }],
    dialects: ['openai'],
    param: 'logit_bias.5',
  },
  { field: 'stop_token_ids', good: [[0], [200_006]], bad: [[-1], [200_007]] },
  { field: 'allowed_token_ids', good: [[0], [200_006]], bad: [[], [-1], [200_007]] },
];

function refusal(
  body: object,
  endpoint: 'chat' | 'completions',
  dialect: Dialect,
): BatonError | undefined {
  const limits = { dialect, tokenizer, models: ['m'], maxModelLen: MAX_MODEL_LEN };
  try {
    if (endpoint === 'chat')
      parseChat({ messages: [{ role: 'user', content: 'Hi' }], ...body }, limits);
    else parseCompletion({ prompt: 'Hi', ...body }, limits);
    return undefined;
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
}

describe.each(['openai', 'vllm'] as const)('ranges in the %s dialect', (dialect) => {
  describe.each(['chat', 'completions'] as const)('of %s', (endpoint) => {
    const ranges = RANGES.filter(
      (range) =>
        (range.endpoints?.includes(endpoint) ?? true) &&
        (range.dialects?.includes(dialect) ?? true),
    );

    it.each(ranges)('$field takes its edges, and nothing beyond', (range) => {
      for (const value of range.good) {
        const found = refusal({ ...range.with, [range.field]: value }, endpoint, dialect);
        expect(found?.message, `${range.field}: ${JSON.stringify(value)}`).toBeUndefined();
      }
      for (const value of range.bad) {
        const found = refusal({ ...range.with, [range.field]: value }, endpoint, dialect);
        expect(found, `${range.field}: ${JSON.stringify(value)}`).toBeDefined();
        const { status, body } = renderError(found!, dialect);
        expect(status).toBe(400);
        const { error } = JSON.parse(body) as { error: Record<string, unknown> };
        if (dialect === 'vllm') {
          expect(error).toMatchObject({ type: 'BadRequestError', code: 400 });
        } else {
          const param = range.param ?? range.field;
          expect(error).toMatchObject({
            type: 'invalid_request_error',
            param,
            code: 'invalid_value',
          });
        }
      }
    });

    it.each(['n', 'max_tokens', 'seed', 'min_tokens', 'top_k', 'priority'])(
      '%s is a whole number',
      (field) => {
        for (const value of ['1', 1.5, true, [1], {}]) {
          const found = refusal({ [field]: value }, endpoint, dialect);
          expect(found?.code, `${field}: ${JSON.stringify(value)}`).toBe('invalid_type');
        }
      },
    );
  });
});
