import { BatonError } from '@baton/contract';
import { type Dialect, planSequence } from '@baton/openai';
import {
  parseResponse,
  type ReasoningEvents,
  readResponse,
  ResponseOutcome,
  StreamedResponse,
} from '@baton/responses';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { expectGolden } from './golden-file';

const tokenizer = defaultTokenizer();
const weather = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { enum: ['Oslo'] } }, required: ['city'] },
};
const custom = { type: 'custom', name: 'shell' };

interface Sequence {
  readonly body: object;
  readonly refusalProbability?: number;
  readonly reasoningEvents?: ReasoningEvents;
  /** Fails after this many tokens. */
  readonly failsAfter?: number;
}

const SEQUENCES: Readonly<Record<string, Sequence>> = {
  text: { body: {} },
  function: { body: { tools: [weather], tool_choice: 'required' } },
  custom: { body: { tools: [custom], tool_choice: { type: 'custom', name: 'shell' } } },
  reasoning: { body: { reasoning: { effort: 'low' } } },
  'reasoning-open-responses': {
    body: { reasoning: { effort: 'low' } },
    reasoningEvents: 'open_responses',
  },
  refusal: { body: {}, refusalProbability: 1 },
  incomplete: { body: { max_output_tokens: 16, ignore_eos: true } },
  failed: { body: {}, failsAfter: 3 },
  queued: { body: { background: true } },
  logprobs: {
    body: { include: ['message.output_text.logprobs'], top_logprobs: 1, max_output_tokens: 16 },
  },
};

function streamOf(dialect: Dialect, sequence: Sequence): string {
  let ids = 0;
  const { refusalProbability = 0, reasoningEvents } = sequence;
  const limits = { dialect, tokenizer, models: ['m'], maxModelLen: 4096, isReasoning: true };
  const newId = (prefix: string): string => `${prefix}_${ids++}`;
  const draft = readResponse({ input: 'Hi', ...sequence.body }, newId, limits);
  const request = parseResponse(draft, [], { ...limits, refusalProbability });
  const lengths = { lengthModel: () => 8, reasoningLengthModel: () => 5 };
  const plan = planSequence(request.generation, { index: 0 }, { tokenizer, seed: 0, ...lengths });
  const head = { id: `resp_${'0'.repeat(48)}`, created: 1, model: 'm', systemFingerprint: 'fp' };
  const options = { dialect, tokenizer, reasoningEvents };
  const streamed = new StreamedResponse(
    new ResponseOutcome({ request, head, plan, options }, () => 2),
  );
  let stream = request.dto.background === true ? streamed.queued() : '';
  stream += streamed.open();
  for (let at = 0; at < plan.count; at += 1) {
    if (at === sequence.failsAfter) return stream + streamed.fail(new BatonError('engine_error'));
    stream += streamed.tokens(at, 1);
  }
  return stream + streamed.finishSequence(plan.endReason, plan.count, 0) + streamed.finishStream();
}

describe.each(['openai', 'vllm'] as const)('%s', (dialect) => {
  it.each(Object.keys(SEQUENCES))('responses %s: every event, byte for byte', (name) => {
    const stream = streamOf(dialect, SEQUENCES[name]!);
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
    expectGolden(`${dialect}-responses-${name}.sse.txt`, stream);
  });
});
