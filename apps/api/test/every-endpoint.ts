import { type ApiFixture, eventsOf } from './api-fixture';

/** The client's view of an answer, for any endpoint, streamed or not. */
export interface Seen {
  readonly status: number;
  readonly text: string;
  /** True when the token limit ended it. */
  readonly isCut: boolean;
  readonly completionTokens: number;
}

export interface Asking {
  readonly text: string;
  readonly maxTokens?: number;
  readonly more?: object;
  readonly headers?: Record<string, string>;
}

type Json = Record<string, unknown>;
type Shape = (asking: Asking) => Json;

/** The endpoints that generate one text. */
export const ENDPOINTS = ['chat', 'completions', 'responses', 'messages'] as const;
export type EndpointName = (typeof ENDPOINTS)[number];

const PATHS: Readonly<Record<EndpointName, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

const messages = (content: string): object[] => [{ role: 'user', content }];

const SHAPES: Readonly<Record<EndpointName, Shape>> = {
  chat: ({ text, maxTokens = 200 }) => ({ messages: messages(text), max_tokens: maxTokens }),
  completions: ({ text, maxTokens = 200 }) => ({ prompt: text, max_tokens: maxTokens }),
  responses: ({ text, maxTokens = 200 }) => ({ input: text, max_output_tokens: maxTokens }),
  messages: ({ text, maxTokens = 200 }) => ({ messages: messages(text), max_tokens: maxTokens }),
};

/** Sends a request and reads the answer to its end. */
export async function ask(
  fixture: Pick<ApiFixture, 'post'>,
  endpoint: EndpointName,
  asking: Asking & { readonly stream: boolean },
): Promise<Seen> {
  const { stream, more = {}, headers = {} } = asking;
  const usage = endpoint === 'chat' || endpoint === 'completions';
  const body = {
    ...SHAPES[endpoint](asking),
    stream,
    ...(stream && usage ? { stream_options: { include_usage: true } } : {}),
    ...more,
  };
  const answer = await fixture.post(PATHS[endpoint], body, { headers });
  const { status } = answer;
  if (status !== 200)
    return { status, text: await answer.text(), isCut: false, completionTokens: 0 };
  const parts: Json[] = [];
  if (!stream) parts.push((await answer.json()) as Json);
  else {
    for await (const event of eventsOf(answer)) {
      const data = event.slice(event.indexOf('{'));
      if (data.startsWith('{')) parts.push(JSON.parse(data) as Json);
    }
  }
  return { status, ...READERS[endpoint](parts, stream) };
}

type Reader = (parts: readonly Json[], stream: boolean) => Omit<Seen, 'status'>;

const READERS: Readonly<Record<EndpointName, Reader>> = {
  chat: readChoices,
  completions: readChoices,
  responses: readResponse,
  messages: readMessage,
};

interface Choice {
  readonly text?: string;
  readonly message?: { readonly content: string | null };
  readonly delta?: { readonly content?: string };
  readonly finish_reason: string | null;
}

function readChoices(parts: readonly Json[]): Omit<Seen, 'status'> {
  const choices = parts.flatMap(({ choices: list }) => (list as Choice[] | undefined) ?? []);
  const texts = choices.map(
    ({ text, message, delta }) => text ?? message?.content ?? delta?.content ?? '',
  );
  const usage = parts.findLast((part) => part['usage'])?.['usage'] as Json;
  return {
    text: texts.join(''),
    isCut: choices.some(({ finish_reason: reason }) => reason === 'length'),
    completionTokens: usage['completion_tokens'] as number,
  };
}

function readResponse(parts: readonly Json[], stream: boolean): Omit<Seen, 'status'> {
  const last = parts.at(-1)!;
  const response = (stream ? last['response'] : last) as {
    readonly status: string;
    readonly output: readonly { readonly content?: readonly { readonly text: string }[] }[];
    readonly usage: { readonly output_tokens: number };
  };
  const texts = response.output.flatMap(({ content }) => content ?? []).map(({ text }) => text);
  return {
    text: texts.join(''),
    isCut: response.status === 'incomplete',
    completionTokens: response.usage.output_tokens,
  };
}

function readMessage(parts: readonly Json[], stream: boolean): Omit<Seen, 'status'> {
  if (!stream) {
    const [message] = parts as readonly {
      readonly content: readonly { readonly text?: string }[];
      readonly stop_reason: string;
      readonly usage: { readonly output_tokens: number };
    }[];
    return {
      text: message!.content.map(({ text }) => text ?? '').join(''),
      isCut: message!.stop_reason === 'max_tokens',
      completionTokens: message!.usage.output_tokens,
    };
  }
  const deltas = parts.map((part) => part['delta'] as Json | undefined);
  const usage = parts.findLast((part) => part['usage'])?.['usage'] as Json;
  return {
    text: deltas.map((delta) => (delta?.['text'] as string | undefined) ?? '').join(''),
    isCut: deltas.some((delta) => delta?.['stop_reason'] === 'max_tokens'),
    completionTokens: usage['output_tokens'] as number,
  };
}
