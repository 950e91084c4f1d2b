import { defaultTokenizer } from '@baton/text';
import type { Dialect } from '../refusal/dialect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planSequence } from '../plan-sequence';
import { parseChat } from '../request/parse-chat';
import { runsOf } from '../../../../test/support/runs';
import { renderFinal } from './render-final';
import { StreamedAnswer } from './streamed-answer';

const tokenizer = defaultTokenizer();
const head = { id: 'chatcmpl-1', created: 1, model: 'm', systemFingerprint: 'fp' };
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, é: { enum: ['漢字', '😀'] } },
  required: ['é'],
};
const functions = [{ name: 'weather', parameters }, { name: 'clock' }];
const tools = functions.map((one) => ({ type: 'function', function: one }));

interface Message {
  content?: string | null;
  reasoning?: string | null;
  reasoning_content?: string;
  tool_calls?: {
    index?: number;
    id?: string;
    function?: { name?: string; arguments: string };
    custom?: { name?: string; input: string };
  }[];
  function_call?: { name?: string; arguments: string } | null;
}

interface Choice {
  index: number;
  message: Message;
  delta: Message & { role?: string };
  finish_reason: string | null;
  token_ids?: number[] | null;
  logprobs?: { content: { token: string }[] } | null;
}

interface Body {
  choices: Choice[];
  usage?: Record<string, unknown>;
}

/** vLLM has no custom tools. */
const isServed = ({ dialect, form }: { dialect: Dialect; form: object }): boolean =>
  dialect === 'openai' || !JSON.stringify(form).includes('"custom"');

const scenario = fc
  .record({
    dialect: fc.constantFrom<Dialect>('openai', 'vllm'),
    seed: fc.nat(),
    n: fc.integer({ min: 1, max: 2 }),
    maxTokens: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(300)),
    form: fc.constantFrom<object>(
      { tools, tool_choice: 'required' },
      { tools, tool_choice: 'auto' },
      { tools, tool_choice: { type: 'function', function: { name: 'weather' } } },
      { functions, function_call: { name: 'weather' } },
      { response_format: { type: 'json_schema', json_schema: { name: 's', schema: parameters } } },
      { tools: [...tools, { type: 'custom', custom: { name: 'sh' } }], tool_choice: 'required' },
      { stop: ['e', ' t'] },
    ),
    reasoning: fc.constantFrom('none', 'shown', 'hidden'),
    logprobs: fc.boolean(),
    returnTokenIds: fc.boolean(),
    cuts: fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
  })
  .filter(isServed);

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function run(s: Scenario): { body: Body; chunks: Body[] } {
  const options = { dialect: s.dialect, tokenizer };
  const limits = {
    ...options,
    models: ['m'],
    maxModelLen: 4096,
    isReasoning: s.reasoning !== 'none',
  };
  const request = parseChat(
    {
      messages: [{ role: 'user', content: 'Hi' }],
      seed: s.seed,
      n: s.n,
      max_tokens: s.maxTokens,
      logprobs: s.logprobs,
      return_token_ids: s.returnTokenIds,
      include_reasoning: s.reasoning === 'shown',
      stream: true,
      stream_options: { include_usage: true },
      ...s.form,
    },
    limits,
  );
  const context = { tokenizer, seed: 0, lengthModel: () => 12 };
  const plans = Array.from({ length: s.n }, (_, index) =>
    planSequence(request, { index }, context),
  );
  const results = plans.map((plan) => ({ plan, reason: plan.endReason, count: plan.count }));
  const final = renderFinal({ request, head, options }, results, { cachedTokens: 0 });
  const answer = new StreamedAnswer(request, head, plans, options);
  let bytes = answer.open();
  plans.forEach((plan, index) => {
    const sequence = answer.sequences[index]!;
    let at = 0;
    for (;;) {
      const count = Math.min(plan.count - at, s.cuts.next().value as number);
      if (at + count === plan.count) {
        bytes += sequence.finishSequence(plan.endReason, at, count);
        return;
      }
      bytes += sequence.tokens(at, count);
      at += count;
    }
  });
  const events = (bytes + answer.finishStream({ cachedTokens: 0 }))
    .split('\n\n')
    .filter((e) => e !== '');
  expect(events.pop()).toBe('data: [DONE]');
  return {
    body: JSON.parse(final) as Body,
    chunks: events.map((event) => JSON.parse(event.replace(/^data: /, '')) as Body),
  };
}

/** Texts are concatenated; a name appears once. */
function grown<Part extends object>(known: Part | undefined, part: Part): Part {
  const entries = Object.entries(part).map(([key, text]) => {
    const before = known === undefined ? '' : (Reflect.get(known, key) as string);
    return [key, before + text];
  });
  return { ...known, ...Object.fromEntries(entries) } as Part;
}

/** Assembles the deltas of one choice as a client does. */
function assembled(deltas: readonly Message[]): Message {
  const message: Required<Pick<Message, 'tool_calls'>> & Message = { tool_calls: [] };
  for (const delta of deltas) {
    if (typeof delta.content === 'string')
      message.content = (message.content ?? '') + delta.content;
    const thought = delta.reasoning ?? delta.reasoning_content;
    if (thought !== undefined) message.reasoning = (message.reasoning ?? '') + thought;
    if (delta.function_call) {
      const call = (message.function_call ??= { arguments: '' });
      if (delta.function_call.name !== undefined) call.name = delta.function_call.name;
      call.arguments += delta.function_call.arguments;
    }
    for (const part of delta.tool_calls ?? []) {
      const call = (message.tool_calls[part.index!] ??= {});
      if (part.id !== undefined) call.id = part.id;
      if (part.function) call.function = grown(call.function, part.function);
      if (part.custom) call.custom = grown(call.custom, part.custom);
    }
  }
  return message;
}

describe('an answer of several parts', () => {
  it('is equal streamed and in one piece', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { body, chunks } = run(s);
        for (const { index, message, finish_reason, token_ids, logprobs } of body.choices) {
          const own = chunks.flatMap(({ choices }) => choices).filter((c) => c.index === index);
          const streamed = assembled(own.map(({ delta }) => delta));
          expect(streamed.content ?? '').toBe(message.content ?? '');
          const thought = message.reasoning ?? message.reasoning_content ?? '';
          expect(streamed.reasoning ?? '').toBe(thought);
          const calls = (message.tool_calls ?? []).map(({ id, function: f, custom }) => ({
            id,
            ...(f ? { function: f } : { custom }),
          }));
          expect(streamed.tool_calls).toEqual(calls);
          expect(streamed.function_call ?? null).toEqual(message.function_call ?? null);
          const ends = own
            .map((choice) => choice.finish_reason)
            .filter((reason) => reason !== null);
          expect(ends).toEqual([finish_reason]);
          expect(own.flatMap((choice) => choice.token_ids ?? [])).toEqual(token_ids ?? []);
          const scored = own.flatMap((choice) => choice.logprobs?.content ?? []);
          expect(scored).toEqual(logprobs?.content ?? []);
          const called = [...(message.tool_calls ?? []), message.function_call ?? []].flat();
          // Null when there are only calls. Empty when all tokens were spent on reasoning.
          if (s.logprobs && called.length === 0) expect(logprobs?.content).toBeInstanceOf(Array);
        }
        expect(totals(chunks.at(-1))).toEqual(totals(body));
      }),
      { numRuns: runsOf(1500) },
    );
  });

  it('has arguments and structured content that parse, unless it ends with length', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { choices } = run(s).body;
        for (const { message, finish_reason: reason } of choices) {
          const called = message.tool_calls ?? [];
          const texts = called.flatMap((call) => call.function?.arguments ?? []);
          if (message.function_call) texts.push(message.function_call.arguments);
          if ('response_format' in s.form && reason !== 'length') texts.push(message.content!);
          if (reason === 'length') continue;
          for (const text of texts) expect(JSON.parse(text)).toBeTypeOf('object');
          const hasCalls =
            (texts.length > 0 || called.length > 0) && !('response_format' in s.form);
          const isNamed = typeof Object.values(s.form)[1] === 'object';
          if (hasCalls && !isNamed) expect(reason).toBe('tool_calls');
          else expect(reason).toBe('stop');
          if (hasCalls) expect(message.content).toBeNull();
        }
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('has one field per delta in the openai dialect', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const deltas = run({ ...s, dialect: 'openai' }).chunks.flatMap((chunk) => chunk.choices);
        for (const { delta } of deltas) expect(Object.keys(delta).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: runsOf(300) },
    );
  });
});

function totals(body: Body | undefined): object {
  const { prompt_tokens_details: _cached, ...rest } = body?.usage ?? {};
  return rest;
}
