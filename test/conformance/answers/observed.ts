import { expect } from 'vitest';
import { eventsOf } from '../../../apps/api/test/api-fixture';

export interface Call {
  readonly id?: string;
  name: string;
  arguments: string;
}

/** One choice as a client has it at the end, in a common form. */
export interface ObservedChoice {
  readonly index: number;
  text: string;
  reasoning: string;
  readonly calls: Call[];
  finishReason: string | null;
  stopReason: string | number | null | undefined;
  /** Tokens of the log-probabilities with their values. Undefined when the answer has none. */
  logprobs:
    | { readonly token: string; readonly logprob: number | null; readonly rivals: number }[]
    | undefined;
  tokenIds: number[] | undefined;
}

/** An answer of either endpoint, dialect and mode. */
export interface Observed {
  readonly status: number;
  readonly error:
    { readonly message: string; readonly param: string | null; readonly code: unknown } | undefined;
  readonly choices: readonly ObservedChoice[];
  readonly usage: Usage | undefined;
  /** Bodies as received: one, or every chunk. */
  readonly bodies: readonly Wire[];
  /** For a response: itself, and its events. */
  readonly response?: {
    readonly body: object;
    readonly events: readonly { readonly type: string }[];
  };
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
}

export interface Wire {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly system_fingerprint?: string | null;
  readonly service_tier?: string | null;
  readonly prompt_text?: string | null;
  readonly prompt_logprobs?: unknown[] | null;
  readonly prompt_token_ids?: number[] | null;
  readonly usage?: Usage | null;
  readonly error?: Observed['error'];
  readonly choices: readonly WireChoice[];
}

interface WireMessage {
  readonly content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
  readonly function_call?: { readonly name?: string; readonly arguments: string } | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

interface WireChoice {
  readonly index: number;
  readonly text?: string;
  readonly message?: WireMessage;
  readonly delta?: WireMessage;
  readonly finish_reason: string | null;
  readonly stop_reason?: string | number | null;
  readonly token_ids?: readonly number[] | null;
  readonly prompt_logprobs?: unknown[] | null;
  readonly prompt_token_ids?: number[] | null;
  readonly logprobs?: {
    readonly content?: readonly { token: string; logprob: number; top_logprobs: unknown[] }[];
    readonly tokens?: readonly string[];
    readonly token_logprobs?: readonly (number | null)[];
    readonly top_logprobs?: readonly (object | null)[];
  } | null;
}

/** Reads an answer to its end. */
export async function observe(answer: Response): Promise<Observed> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const bodies: Wire[] = [];
  if (isStream) {
    const events: string[] = [];
    for await (const event of eventsOf(answer)) events.push(event);
    expect(events.pop()).toBe('[DONE]');
    bodies.push(...events.map((event) => JSON.parse(event) as Wire));
  } else {
    bodies.push((await answer.json()) as Wire);
  }
  const error = bodies.find((body) => body.error !== undefined)?.error;
  return {
    status: answer.status,
    error,
    choices: error === undefined ? choicesOf(bodies) : [],
    usage: bodies.findLast(({ usage }) => usage != null)?.usage ?? undefined,
    bodies,
  };
}

function choicesOf(bodies: readonly Wire[]): ObservedChoice[] {
  const found = new Map<number, ObservedChoice>();
  for (const choice of bodies.flatMap(({ choices }) => choices)) {
    const known = found.get(choice.index) ?? emptyChoice(choice.index);
    found.set(choice.index, known);
    take(known, choice);
  }
  return [...found.values()].sort((a, b) => a.index - b.index);
}

function emptyChoice(index: number): ObservedChoice {
  return {
    index,
    text: '',
    reasoning: '',
    calls: [],
    finishReason: null,
    stopReason: undefined,
    logprobs: undefined,
    tokenIds: undefined,
  };
}

function take(known: ObservedChoice, choice: WireChoice): void {
  const message = choice.message ?? choice.delta ?? {};
  known.text += choice.text ?? message.content ?? '';
  known.reasoning += message.reasoning ?? message.reasoning_content ?? '';
  for (const [i, call] of (message.tool_calls ?? []).entries()) {
    takeCall(known.calls, call.index ?? i, { id: call.id, ...call.function });
  }
  if (message.function_call) takeCall(known.calls, 0, message.function_call);
  if (choice.finish_reason !== null) {
    expect(known.finishReason, 'a choice ends once').toBeNull();
    known.finishReason = choice.finish_reason;
    known.stopReason = choice.stop_reason;
  }
  if (choice.logprobs != null) known.logprobs = [...(known.logprobs ?? []), ...scoresOf(choice)];
  if (choice.token_ids != null) known.tokenIds = [...(known.tokenIds ?? []), ...choice.token_ids];
}

function takeCall(
  calls: Call[],
  index: number,
  part: { id?: string | undefined; name?: string; arguments: string },
): void {
  const call = (calls[index] ??= {
    ...(part.id === undefined ? {} : { id: part.id }),
    name: part.name ?? '',
    arguments: '',
  });
  call.arguments += part.arguments;
}

function scoresOf({ logprobs }: WireChoice): NonNullable<ObservedChoice['logprobs']> {
  if (logprobs?.content !== undefined) {
    return logprobs.content.map(({ token, logprob, top_logprobs: top }) => ({
      token,
      logprob,
      rivals: top.length,
    }));
  }
  return (logprobs?.tokens ?? []).map((token, i) => ({
    token,
    logprob: logprobs?.token_logprobs?.[i] ?? null,
    rivals: Object.keys(logprobs?.top_logprobs?.[i] ?? {}).length,
  }));
}
