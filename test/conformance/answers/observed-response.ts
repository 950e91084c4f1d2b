import { expect } from 'vitest';
import { eventsIn } from '../../../apps/api/test/responses-client';
import type { Call, Observed, ObservedChoice } from './observed';

interface Part {
  readonly text: string;
  readonly logprobs?: readonly { token: string; logprob: number; top_logprobs: unknown[] }[];
}

interface Item {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly Part[];
}

interface Body {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly service_tier: string;
  readonly error?: Observed['error'];
  readonly output: readonly Item[];
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    readonly output_tokens_details: { readonly reasoning_tokens: number };
  };
}

/** Reads a response to its end, and returns it as a chat of one choice. */
export async function observeResponse(answer: Response): Promise<Observed> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = isStream ? eventsIn(await answer.text()) : [];
  expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
  const body = (isStream ? events.at(-1)?.response : await answer.json()) as Body;
  const { status } = answer;
  if (status !== 200)
    return { status, error: body.error, choices: [], usage: undefined, bodies: [] };
  const { id, model, service_tier, usage } = body;
  if (isStream) expect(deltasOf(events)).toBe(body.output.map(textOf).join(''));
  return {
    status,
    error: undefined,
    choices: [choiceOf(body)],
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      completion_tokens_details: usage.output_tokens_details,
    },
    bodies: [{ id, object: 'response', model, service_tier, choices: [] }],
    response: { body, events },
  };
}

function deltasOf(events: readonly { readonly delta?: string }[]): string {
  return events.map(({ delta }) => delta ?? '').join('');
}

function textOf(item: Item): string {
  return item.arguments ?? item.content?.map(({ text }) => text).join('') ?? '';
}

function choiceOf({ status, output }: Body): ObservedChoice {
  const of = (type: string): Item[] => output.filter((item) => item.type === type);
  const calls = of('function_call').map((item): Call => ({
    id: item.call_id!,
    name: item.name!,
    arguments: item.arguments!,
  }));
  const scores = of('message').flatMap(({ content }) => content?.[0]?.logprobs ?? []);
  const cut = status === 'incomplete' ? 'length' : 'stop';
  return {
    index: 0,
    text: of('message').map(textOf).join(''),
    reasoning: of('reasoning').map(textOf).join(''),
    calls,
    finishReason: cut === 'stop' && calls.length > 0 ? 'tool_calls' : cut,
    stopReason: undefined,
    logprobs: scores.map(({ token, logprob, top_logprobs: top }) => ({
      token,
      logprob,
      rivals: top.length,
    })),
    tokenIds: undefined,
  };
}
