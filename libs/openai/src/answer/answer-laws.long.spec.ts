import { defaultTokenizer, type OutputPlan, planOutput } from '@baton/text';
import type { Dialect } from '../refusal/dialect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GenerationRequest } from '../generation-request';
import { parseChat } from '../request/parse-chat';
import { parseCompletion } from '../request/parse-completion';
import { runsOf } from '../../../../test/support/runs';
import { renderFinal } from './render-final';
import { StreamedAnswer } from './streamed-answer';

interface WireChoice {
  index: number;
  text?: string;
  delta?: { content?: string; role?: string };
  message?: { content: string };
  finish_reason: string | null;
  logprobs: { content?: unknown[]; tokens?: unknown[] } | null;
  token_ids?: number[] | null;
}

interface WireBody {
  id: string;
  choices: WireChoice[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
}

const tokenizer = defaultTokenizer();
const head = { id: 'x', created: 1, model: 'm', systemFingerprint: 'fp' };

const scenario = fc.record({
  dialect: fc.constantFrom<Dialect>('openai', 'vllm'),
  endpoint: fc.constantFrom('chat' as const, 'completions' as const),
  prompts: fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 3,
  }),
  n: fc.integer({ min: 1, max: 3 }),
  maxTokens: fc.integer({ min: 1, max: 60 }),
  seed: fc.integer({ min: 0 }),
  stop: fc.option(
    fc.array(fc.constantFrom<string>('e', ' t', 'er', '. ', 'the c', '\n'), { maxLength: 3 }),
  ),
  includeStop: fc.boolean(),
  echo: fc.boolean(),
  logprobs: fc.option(fc.integer({ min: 0, max: 3 })),
  returnTokenIds: fc.boolean(),
  usage: fc.constantFrom('none', 'last', 'always'),
  cuts: fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function requestOf(s: Scenario): GenerationRequest {
  const limits = { dialect: s.dialect, tokenizer, models: ['m'], maxModelLen: 4096 };
  const common = {
    max_tokens: s.maxTokens,
    n: s.n,
    seed: s.seed,
    stop: s.stop,
    include_stop_str_in_output: s.includeStop,
    echo: s.echo,
    return_token_ids: s.returnTokenIds,
    stream: true,
    ...(s.usage === 'none'
      ? {}
      : { stream_options: { include_usage: true, continuous_usage_stats: s.usage === 'always' } }),
  };
  if (s.endpoint === 'completions') {
    return parseCompletion({ ...common, prompt: s.prompts, logprobs: s.logprobs }, limits);
  }
  const messages = s.prompts.map((content, i) => ({
    role: i === 1 ? 'assistant' : 'user',
    content,
  }));
  const top = s.logprobs === null ? {} : { logprobs: true, top_logprobs: s.logprobs };
  return parseChat({ ...common, ...top, messages }, limits);
}

function plansOf(request: GenerationRequest): OutputPlan[] {
  return request.prompts.flatMap((prompt) =>
    Array.from({ length: request.choices }, (_, choice) =>
      planOutput({
        tokenizer,
        promptIds: prompt.ids,
        model: request.model,
        seed: request.seed ?? 0,
        choice,
        maxTokens: prompt.maxTokens,
        minTokens: request.minTokens,
        ignoreEos: request.ignoreEos,
        stop: request.stop,
        stopTokenIds: request.stopTokenIds,
        includeStop: request.includeStop,
        lengthModel: (_seed, hash) => 1 + (hash % 50),
      }),
    ),
  );
}

/** The frames of all sequences, tokens arriving in batches of random size. */
function streamOf(s: Scenario, request: GenerationRequest, plans: OutputPlan[]): string[] {
  const options = { dialect: s.dialect, tokenizer };
  const answer = new StreamedAnswer(request, head, plans, options);
  const cuts = s.cuts[Symbol.iterator]();
  let bytes = answer.open();
  plans.forEach((plan, index) => {
    const sequence = answer.sequences[index]!;
    let at = 0;
    for (;;) {
      const count = Math.min(cuts.next().value as number, plan.count - at);
      const isLast = at + count === plan.count;
      bytes += isLast
        ? sequence.finishSequence(plan.endReason, at, count)
        : sequence.tokens(at, count);
      at += count;
      if (isLast) break;
    }
  });
  bytes += answer.finishStream({ cachedTokens: 0 });
  expect(bytes).toMatch(/^[\n\x20-\x7e]*$/);
  expect(bytes.endsWith('\n\n')).toBe(true);
  return bytes.slice(0, -2).split('\n\n');
}

function bodiesOf(frames: string[]): WireBody[] {
  expect(frames.at(-1)).toBe('data: [DONE]');
  return frames.slice(0, -1).map((frame) => {
    expect(frame.startsWith('data: {')).toBe(true);
    return JSON.parse(frame.slice(6)) as WireBody;
  });
}

function run(s: Scenario) {
  const request = requestOf(s);
  const plans = plansOf(request);
  const bodies = bodiesOf(streamOf(s, request, plans));
  const results = plans.map((plan) => ({ plan, reason: plan.endReason, count: plan.count }));
  const options = { dialect: s.dialect, tokenizer };
  const final = JSON.parse(renderFinal({ request, head, options }, results)) as WireBody;
  const choicesOf = (index: number) =>
    bodies.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
  return { request, plans, bodies, final, choicesOf };
}

const textOf = (choice: WireChoice): string =>
  choice.text ?? choice.delta?.content ?? choice.message?.content ?? '';

describe('answers', () => {
  it('streamed text equals the whole answer, for any batches of tokens', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { plans, final, choicesOf } = run(s);
        expect(final.choices).toHaveLength(plans.length);
        for (const choice of final.choices) {
          const parts = choicesOf(choice.index);
          expect(parts.map(textOf).join('')).toBe(textOf(choice));
          expect(
            parts.map((part) => part.finish_reason).filter((reason) => reason !== null),
          ).toEqual([choice.finish_reason]);
          expect(parts.at(-1)?.finish_reason).toBe(plans[choice.index]?.endReason);
        }
      }),
      { numRuns: runsOf(400) },
    );
  });

  it('streamed log-probabilities and ids equal those of the whole answer', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { request, final, choicesOf } = run(s);
        for (const choice of final.choices) {
          const parts = choicesOf(choice.index);
          const scores = (c: WireChoice) => c.logprobs?.content ?? c.logprobs?.tokens ?? [];
          expect(parts.flatMap(scores)).toEqual(scores(choice));
          if (request.returnTokenIds) {
            expect(parts.flatMap((part) => part.token_ids ?? [])).toEqual(choice.token_ids);
          }
        }
      }),
      { numRuns: runsOf(200) },
    );
  });

  it('usage equals a client’s count: the tokens of the text, unless a stop cut it', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { request, plans, bodies, final } = run({ ...s, echo: false });
        const generated = plans.reduce((sum, { count }) => sum + count, 0);
        expect(final.usage?.completion_tokens).toBe(generated);
        if (plans.every(({ stopReason }) => stopReason === null)) {
          const counted = final.choices.map((choice) => tokenizer.encode(textOf(choice)).length);
          expect(counted.reduce((a, b) => a + b, 0)).toBe(generated);
        }
        const last = bodies.at(-1);
        expect(last?.choices.length === 0).toBe(request.includeUsage);
        if (request.includeUsage) expect(last?.usage).toMatchObject(countsOf(final));
      }),
      { numRuns: runsOf(200) },
    );
  });

  it('a stream never shows text that a stop string removes', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { final, choicesOf } = run({ ...s, stop: ['the', ' and', 'r '], echo: false });
        for (const choice of final.choices) {
          let shown = '';
          for (const part of choicesOf(choice.index)) {
            shown += textOf(part);
            expect(textOf(choice).startsWith(shown)).toBe(true);
          }
        }
      }),
      { numRuns: runsOf(200) },
    );
  });

  it('OpenAI chunks have one field per delta and no empty delta but the last', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const { choicesOf, final } = run({ ...s, dialect: 'openai', endpoint: 'chat' });
        for (const { index } of final.choices) {
          const fields = choicesOf(index).map(({ delta }) => Object.entries(delta ?? {}));
          expect(fields[0]).toEqual([['role', 'assistant']]);
          expect(fields.at(-1)).toEqual([]);
          for (const field of fields.slice(1, -1)) {
            expect(field).toEqual([['content', expect.stringMatching(/./su)]]);
          }
        }
      }),
      { numRuns: runsOf(200) },
    );
  });
});

function countsOf({ usage }: WireBody): object {
  return {
    prompt_tokens: usage?.prompt_tokens,
    completion_tokens: usage?.completion_tokens,
    total_tokens: usage?.total_tokens,
  };
}
