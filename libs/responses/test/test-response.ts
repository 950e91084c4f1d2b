import { planSequence } from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { expect } from 'vitest';
import { followReferences, type Item } from '../src/items';
import {
  parseResponse,
  readResponse,
  type ResponseDraft,
  type ResponseLimits,
} from '../src/parse-response';
import { ResponseOutcome } from '../src/response-outcome';
import { StreamedResponse } from '../src/streamed-response';

export const tokenizer = defaultTokenizer();
const limits: ResponseLimits = {
  dialect: 'openai',
  tokenizer,
  models: ['m'],
  maxModelLen: 4096,
  isReasoning: true,
};
let ids = 0;
export const newId = (prefix: string): string => `${prefix}_${ids++}`;

export const parse = (
  body: object,
  context: readonly Item[] = [],
  more: Partial<ResponseLimits> = {},
) => parseResponse(draftOf(body, context), context, { ...limits, ...more });
const draftOf = (body: object, context: readonly Item[]): ResponseDraft => {
  const draft = readResponse(body, newId, { dialect: 'openai' });
  return { ...draft, own: followReferences(draft.own, context) };
};
export interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly [key: string]: unknown;
}

export function eventsOf(stream: string): Event[] {
  const frames = stream.split('\n\n').filter((frame) => frame !== '');
  expect(frames.pop()).toBe('data: [DONE]');
  return frames.map((frame) => {
    const [name, data] = frame.split('\n');
    const event = JSON.parse(data!.replace(/^data: /, '')) as Event;
    expect(name).toBe(`event: ${event.type}`);
    return event;
  });
}

export function outcomeOf(body: object): ResponseOutcome {
  const request = parse(body);
  const context = { tokenizer, seed: 0, lengthModel: () => 12 };
  const plan = planSequence(request.generation, { index: 0 }, context);
  const head = { id: 'resp_1', created: 1, model: 'm', systemFingerprint: 'fp' };
  const options = { dialect: 'openai', tokenizer } as const;
  return new ResponseOutcome({ request, head, plan, options }, () => 2);
}

export function run(body: object, cuts: () => number = () => 1) {
  const outcome = outcomeOf(body);
  const { plan } = outcome.context;
  const streamed = new StreamedResponse(outcome);
  let stream = streamed.open();
  let at = 0;
  while (at < plan.count) {
    const count = Math.min(plan.count - at, cuts());
    stream += streamed.tokens(at, count);
    at += count;
  }
  stream +=
    streamed.finishSequence(plan.endReason, plan.count, 0) +
    streamed.finishStream({ cachedTokens: 3 });
  const end = { reason: plan.endReason, count: plan.count, cachedTokens: 3 };
  const response = outcome.endResponse(end);
  const unstreamed = new ResponseOutcome(outcome.context, () => 2);
  const whole = unstreamed.written(unstreamed.endResponse(end));
  expect(outcome.written(response)).toBe(whole);
  return {
    response: JSON.parse(whole) as typeof response,
    stream,
    events: eventsOf(stream),
    outcome,
  };
}
