import { BatonError } from '@baton/contract';
import {
  type AnswerHead,
  type AnswerOptions,
  type Dialect,
  type Endpoint,
  type FinalFacts,
  type GenerationRequest,
  parseChat,
  parseCompletion,
  planSequence,
  renderError,
  renderFinal,
  StreamedAnswer,
} from '@baton/openai';
import { defaultTokenizer, type OutputPlan } from '@baton/text';
import { describe, it } from 'vitest';
import { expectGolden } from './golden-file';

const tokenizer = defaultTokenizer();

interface Case {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields that differ between the endpoints. */
  readonly chatFields?: Readonly<Record<string, unknown>>;
  readonly failure?: BatonError;
  readonly isWholeOnly?: true;
  readonly facts?: FinalFacts;
  readonly options?: Partial<AnswerOptions>;
  readonly dialects?: readonly Dialect[];
}

const CASES: readonly Case[] = [
  { name: 'plain', fields: {} },
  { name: 'length', fields: { max_tokens: 3, ignore_eos: true } },
  {
    name: 'logprobs',
    fields: { logprobs: 2, max_tokens: 3 },
    chatFields: { logprobs: true, top_logprobs: 2, max_tokens: 3 },
  },
  { name: 'choices', fields: { n: 2, max_tokens: 2 } },
  { name: 'stop-string', fields: { stop: ['t ag', 's e'] } },
  { name: 'stop-included', fields: { stop: ['t ag', 's e'], include_stop_str_in_output: true } },
  { name: 'usage', fields: { stream_options: { include_usage: true } } },
  {
    name: 'usage-always',
    fields: {
      max_tokens: 2,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    },
  },
  { name: 'echo', fields: { echo: true, max_tokens: 2 } },
  { name: 'token-ids', fields: { return_token_ids: true, max_tokens: 2 } },
  { name: 'error', fields: { max_tokens: 2 }, failure: new BatonError('kv_load_failed') },
  { name: 'json-object', fields: { response_format: { type: 'json_object' } } },
  { name: 'choice', fields: { structured_outputs: { choice: ['é1', 'é2'] } } },
  { name: 'service-tier', fields: { max_tokens: 2, service_tier: 'auto' } },
  {
    name: 'echo-logprobs',
    fields: { echo: true, max_tokens: 2, logprobs: 1 },
    chatFields: { logprobs: true, top_logprobs: 1 },
  },
  {
    name: 'tokens-by-number',
    fields: { max_tokens: 2, logprobs: 1, return_tokens_as_token_ids: true },
    chatFields: { logprobs: true, top_logprobs: 1 },
  },
  {
    name: 'cached-tokens',
    fields: { max_tokens: 2, stream_options: { include_usage: true } },
    facts: { cachedTokens: 3 },
    options: { promptTokensDetails: true },
  },
  { name: 'prompt-logprobs', fields: { max_tokens: 2, prompt_logprobs: 1 }, isWholeOnly: true },
  {
    name: 'kv-transfer',
    fields: { max_tokens: 1, kv_transfer_params: { do_remote_decode: true } },
    facts: { kvTransferParams: { do_remote_prefill: true, remote_block_ids: [[1, 2]] } },
    isWholeOnly: true,
  },
];

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const named = { type: 'function', function: { name: 'get_weather' } };

const CHAT_CASES: readonly Case[] = [
  { name: 'tool-call', fields: { tools: TOOLS, tool_choice: named, max_tokens: 200 } },
  { name: 'tool-calls', fields: { tools: TOOLS, tool_choice: 'required', max_tokens: 200 } },
  {
    name: 'tool-call-logprobs',
    fields: { tools: TOOLS, tool_choice: named, logprobs: true, return_token_ids: true },
  },
  { name: 'tool-call-length', fields: { tools: TOOLS, tool_choice: named, max_tokens: 18 } },
  {
    name: 'function-call',
    fields: { functions: [TOOLS[0]!.function], function_call: { name: 'get_weather' } },
  },
  { name: 'reasoning', fields: { reasoning_effort: 'low', stop: [' t'] } },
  {
    name: 'reasoning-hidden',
    fields: { reasoning_effort: 'low', include_reasoning: false, return_token_ids: true },
  },
  {
    name: 'reasoning-tool-call',
    fields: { reasoning_effort: 'minimal', tools: TOOLS, tool_choice: named, max_tokens: 200 },
  },
  { name: 'prompt-text', fields: { return_prompt_text: true, max_tokens: 2 } },
  {
    name: 'custom-tool-call',
    fields: {
      tools: [{ type: 'custom', custom: { name: 'say' } }],
      tool_choice: 'required',
      max_tokens: 60,
    },
    dialects: ['openai'],
  },
];

const COMPLETIONS_CASES: readonly Case[] = [
  { name: 'best-of', fields: { n: 2, best_of: 4, max_tokens: 3 }, isWholeOnly: true },
  { name: 'prompts', fields: { prompt: ['Say "é".', 'And?'], n: 2, max_tokens: 1 } },
  { name: 'echo-alone', fields: { echo: true, max_tokens: 0 } },
];

const NOTHING_CACHED: FinalFacts = { cachedTokens: 0 };

const MESSAGES = [
  { role: 'user', content: 'Say "é".' },
  { role: 'assistant', content: 'é' },
];

function requestOf(dialect: Dialect, endpoint: Endpoint, one: Case): GenerationRequest {
  const limits = {
    dialect,
    tokenizer,
    models: ['golden'],
    maxModelLen: 8192,
    isReasoning: one.name.startsWith('reasoning'),
  };
  const fields = endpoint === 'chat' ? { ...one.fields, ...one.chatFields } : one.fields;
  const stream = one.isWholeOnly !== true;
  const body = { prompt: 'Say "é".', max_tokens: 64, stream, ...fields };
  return endpoint === 'chat'
    ? parseChat({ ...body, messages: MESSAGES }, limits)
    : parseCompletion(body, limits);
}

function plansOf(request: GenerationRequest): OutputPlan[] {
  const context = { tokenizer, seed: 0, lengthModel: () => 12 };
  const sequences = request.prompts.length * request.choices;
  return Array.from({ length: sequences }, (_, index) => planSequence(request, { index }, context));
}

function streamOf(answer: StreamedAnswer, plans: readonly OutputPlan[], one: Case): string {
  let bytes = answer.open();
  plans.forEach((plan, index) => {
    const sequence = answer.sequences[index]!;
    for (let at = 0; at < plan.count - 1; at++) bytes += sequence.tokens(at, 1);
    if (one.failure === undefined)
      bytes += sequence.finishSequence(plan.endReason, plan.count - 1, 1);
  });
  return (
    bytes +
    (one.failure
      ? answer.fail(one.failure)
      : answer.finishStream({ cachedTokens: one.facts?.cachedTokens ?? 0 }))
  );
}

describe.each(['openai', 'vllm'] as const)('%s', (dialect) => {
  describe.each(['chat', 'completions'] as const)('%s', (endpoint) => {
    const optionsOf = (one: Case): AnswerOptions => ({ dialect, tokenizer, ...one.options });
    const head: AnswerHead = {
      id: endpoint === 'chat' ? 'chatcmpl-golden' : 'cmpl-golden',
      created: 1_787_000_000,
      model: 'golden',
      systemFingerprint: dialect === 'vllm' ? 'vllm-0.27.0-3f2a9c1b' : 'fp_3f2a9c1b04',
    };

    const own = endpoint === 'chat' ? CHAT_CASES : COMPLETIONS_CASES;
    const cases = [...CASES, ...own].filter((one) => one.dialects?.includes(dialect) ?? true);

    it.each(cases.filter(({ isWholeOnly }) => isWholeOnly !== true))('$name, streamed', (one) => {
      const request = requestOf(dialect, endpoint, one);
      const plans = plansOf(request);
      const answer = new StreamedAnswer(request, head, plans, optionsOf(one));
      expectGolden(`${dialect}-${endpoint}-${one.name}.sse.txt`, streamOf(answer, plans, one));
    });

    it.each(cases)('$name, whole', (one) => {
      const request = requestOf(dialect, endpoint, one);
      const options = optionsOf(one);
      const results = plansOf(request).map((plan) => {
        return { plan, reason: plan.endReason, count: plan.count };
      });
      const body = one.failure
        ? renderError(one.failure, dialect).body
        : renderFinal({ request, head, options }, results, one.facts ?? NOTHING_CACHED);
      expectGolden(`${dialect}-${endpoint}-${one.name}.body.txt`, `${body}\n`);
    });
  });
});
