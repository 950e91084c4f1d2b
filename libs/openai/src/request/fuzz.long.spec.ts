import { BatonError } from '@baton/contract';
import { RandomStream } from '@baton/kernel';
import { defaultTokenizer } from '@baton/text';
import { type Dialect } from '../refusal/dialect';
import { renderError } from '../refusal/render-error';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { renderFinal } from '../answer/render-final';
import { StreamedAnswer } from '../answer/streamed-answer';
import { planSequence } from '../plan-sequence';
import { parseChat } from './parse-chat';
import { parseCompletion } from './parse-completion';

const tokenizer = defaultTokenizer();
const BODIES = runsOf(10_000);
/** Runs the seed of a failure alone: BATON_FUZZ_SEED=123. */
const ONLY = process.env['BATON_FUZZ_SEED'];

const FIELDS = [
  ...['model', 'messages', 'prompt', 'max_tokens', 'max_completion_tokens', 'n', 'best_of', 'stop'],
  ...['stop_token_ids', 'logprobs', 'top_logprobs', 'prompt_logprobs', 'logit_bias', 'bad_words'],
  ...['allowed_token_ids', 'response_format', 'structured_outputs', 'tools', 'tool_choice'],
  ...['parallel_tool_calls', 'functions', 'function_call', 'reasoning_effort', 'stream', 'seed'],
  ...['stream_options', 'echo', 'temperature', 'top_p', 'min_tokens', 'truncate_prompt_tokens'],
  ...['chat_template_kwargs', 'documents', 'service_tier', 'suffix', 'kv_transfer_params', 'user'],
  ...['continue_final_message', 'return_token_ids', 'include_reasoning', 'thinking_token_budget'],
];
const KEYS = [
  '__proto__',
  'constructor',
  'type',
  'function',
  'name',
  'parameters',
  'schema',
  'toString',
];
const PATTERNS = [
  '(a+)+$',
  '((a?){9}){99}',
  '^(.*)*(.*)*$',
  '(',
  '\\p{L}{99}',
  '(?=a)(?!b)c*',
  '[^]',
];
const TEXTS = [
  '',
  'a',
  'json_schema',
  'required',
  '\ud800',
  '\u0000',
  'é😀',
  '{',
  'root ::= root',
  'auto',
];

/** Random bodies with valid and invalid parts. */
class Fuzz {
  constructor(private readonly random: RandomStream) {}

  body(): Record<string, unknown> {
    const body: Record<string, unknown> = this.chance(0.9)
      ? {
          messages: [{ role: 'user', content: 'Hi' }],
          prompt: 'Hi',
          max_tokens: 1 + this.integer(30),
        }
      : {};
    for (let i = this.integer(3); i > 0; i--) body[this.pick(FIELDS)] = this.value(4);
    if (this.chance(0.1)) body['response_format'] = this.format();
    if (this.chance(0.1)) body['tools'] = [this.tool()];
    if (this.chance(0.2))
      body['structured_outputs'] = {
        [this.pick(['regex', 'json', 'grammar', 'choice'])]: this.value(3),
      };
    if (this.chance(0.03)) body['structured_outputs'] = { regex: this.pick(PATTERNS) };
    return body;
  }

  private format(): unknown {
    return { type: 'json_schema', json_schema: { name: 's', schema: this.schema(3) } };
  }

  private tool(): unknown {
    return {
      type: this.pick(['function', 'function', 'function', 'custom', 'x']),
      function: { name: 'f', parameters: this.schema(3) },
    };
  }

  private schema(depth: number): unknown {
    const schema: Record<string, unknown> = {};
    const keywords = [
      ...['type', 'properties', 'required', 'items', 'enum', 'pattern', 'anyOf', 'allOf', 'not'],
      ...[
        'minimum',
        'multipleOf',
        'minItems',
        'minLength',
        'uniqueItems',
        '$ref',
        'const',
        'format',
      ],
    ];
    for (let i = this.integer(4); i >= 0; i--) {
      const keyword = this.pick(keywords);
      schema[keyword] = this.chance(0.2) ? this.value(2) : this.keyword(keyword, depth);
    }
    return schema;
  }

  private keyword(name: string, depth: number): unknown {
    const sub = (): unknown => (depth > 0 ? this.schema(depth - 1) : true);
    switch (name) {
      case 'type':
        return this.pick(['string', 'integer', 'object', 'array', 'null']);
      case 'properties':
        return { [this.pick(KEYS)]: sub(), a: sub() };
      case 'required':
        return [this.pick(KEYS)];
      case 'anyOf':
      case 'allOf':
        return [sub(), sub()];
      case 'pattern':
        return this.pick(PATTERNS);
      case '$ref':
        return this.pick(['#', '#/properties/a', '#/nope', 'https://example.com/x']);
      case 'minimum':
      case 'multipleOf':
      case 'minItems':
      case 'minLength':
        return this.pick([0, 1, 5, 1e9, 1e308, 0.1]);
      case 'enum':
        return [this.value(1), this.value(1)];
      case 'items':
      case 'not':
        return sub();
      default:
        return this.value(1);
    }
  }

  private value(depth: number): unknown {
    const kind = this.integer(depth > 0 ? 9 : 6);
    if (kind === 0) return this.pick([0, 1, -1, 1.5, 2 ** 53, 1e308, -1e308, 3e9]);
    if (kind === 1) return this.pick(TEXTS);
    if (kind === 2) return this.chance(0.5);
    if (kind === 3) return null;
    if (kind === 4) return this.pick(PATTERNS);
    if (kind === 5) return Array.from({ length: this.integer(4) }, () => this.integer(300_000));
    if (kind === 6) return Array.from({ length: this.integer(4) }, () => this.value(depth - 1));
    if (kind === 7 && this.chance(0.05)) return nested(100 + this.integer(1000));
    const member = (): string => {
      const key = JSON.stringify(this.pick(KEYS));
      return `${key}:${JSON.stringify(this.value(depth - 1)) ?? 'null'}`;
    };
    return JSON.parse(`{${Array.from({ length: this.integer(3) }, member).join()}}`) as unknown;
  }

  private chance(probability: number): boolean {
    return this.random.unit() < probability;
  }

  private integer(n: number): number {
    return this.random.integer(n);
  }

  private pick<Item>(items: readonly Item[]): Item {
    return items[this.random.integer(items.length)]!;
  }
}

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { items: value };
  return value;
}

/**
 * Parses, plans and answers a body. The only allowed error is a `BatonError` caused by the client.
 */
function take(
  body: unknown,
  endpoint: 'chat' | 'completions',
  dialect: Dialect,
): 'answered' | 'refused' {
  const limits = { dialect, tokenizer, models: ['m'], maxModelLen: 4096, isReasoning: true };
  try {
    const request = (endpoint === 'chat' ? parseChat : parseCompletion)(body, limits);
    const context = { tokenizer, seed: 0, lengthModel: () => 20 };
    const sequences = Math.min(3, request.prompts.length * request.choices);
    const plans = Array.from({ length: sequences }, (_, index) =>
      planSequence(request, { index }, context),
    );
    const head = { id: 'x', created: 1, model: 'm', systemFingerprint: 'fp' };
    const options = { dialect, tokenizer };
    const results = plans.map((plan) => ({ plan, reason: plan.endReason, count: plan.count }));
    JSON.parse(renderFinal({ request, head, options }, results));
    const stream = new StreamedAnswer(request, head, plans, options);
    stream.open();
    plans.forEach((plan, i) => stream.sequences[i]!.finishSequence(plan.endReason, 0, plan.count));
    return 'answered';
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    expect(error.entry.status).toBeGreaterThanOrEqual(400);
    expect(error.entry.status).toBeLessThan(500);
    JSON.parse(renderError(error, dialect).body);
    return 'refused';
  }
}

describe.each(['chat', 'completions'] as const)('random bodies of %s', (endpoint) => {
  it('are answered or refused, without an internal error', () => {
    const counts = { answered: 0, refused: 0 };
    const seeds = ONLY === undefined ? Array.from({ length: BODIES }, (_, i) => i) : [Number(ONLY)];
    for (const seed of seeds) {
      const body = new Fuzz(RandomStream.root(seed)).body();
      try {
        counts[take(body, endpoint, seed % 2 === 0 ? 'openai' : 'vllm')] += 1;
      } catch (error) {
        expect.fail(`seed ${seed}: ${String(error)} ${JSON.stringify(body).slice(0, 2000)}`);
      }
    }
    if (ONLY === undefined)
      expect(Math.min(counts.answered, counts.refused)).toBeGreaterThan(BODIES / 10);
  });
});
