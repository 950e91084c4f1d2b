/** The result of one streamed answer, from the bytes received. */
export interface StreamedAnswer {
  readonly status: number;
  readonly text: string;
  readonly ids: readonly string[];
  readonly finishReason: string | null;
  /** Wall ms (performance.now) of each chunk that brought text. */
  readonly tokenTimesMs: readonly number[];
  readonly usage: Usage | null;
  readonly error: { readonly message: string; readonly code: unknown } | undefined;
  readonly endedWithDone: boolean;
  /** The `Retry-After` of a refusal, ms. */
  readonly retryAfterMs?: number;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

interface Chunk {
  readonly id: string;
  readonly error?: { readonly message: string; readonly code: unknown };
  readonly usage?: Usage | null;
  readonly choices?: readonly {
    readonly text?: string;
    readonly delta?: { readonly content?: string };
    readonly finish_reason: string | null;
  }[];
}

export type Body = Readonly<Record<string, unknown>>;

export function post(url: string, body: Body, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Streams a completion or a chat completion to its end. */
export async function stream(
  url: string,
  body: Body,
  signal?: AbortSignal,
): Promise<StreamedAnswer> {
  const answer = await post(url, { ...body, stream: true }, signal);
  const seen = {
    status: answer.status,
    text: '',
    ids: [] as string[],
    finishReason: null as string | null,
    tokenTimesMs: [] as number[],
    usage: null as Usage | null,
    error: undefined as StreamedAnswer['error'],
    endedWithDone: false,
  };
  if (!answer.ok || answer.body === null) {
    const failure = (await answer.json()) as Chunk;
    const wait = answer.headers.get('retry-after');
    const retry = wait === null ? {} : { retryAfterMs: Number(wait) * 1_000 };
    return { ...seen, error: failure.error, ...retry };
  }
  for await (const data of eventsOf(answer.body)) {
    if (data === '[DONE]') seen.endedWithDone = true;
    else take(JSON.parse(data) as Chunk, seen);
  }
  return seen;
}

function take(
  chunk: Chunk,
  seen: { -readonly [K in keyof StreamedAnswer]: StreamedAnswer[K] } & {
    ids: string[];
    tokenTimesMs: number[];
  },
): void {
  if (chunk.error !== undefined) {
    seen.error = chunk.error;
    return;
  }
  if (!seen.ids.includes(chunk.id)) seen.ids.push(chunk.id);
  if (chunk.usage) seen.usage = chunk.usage;
  const choice = chunk.choices?.[0];
  const text = choice?.text ?? choice?.delta?.content ?? '';
  if (text !== '') seen.tokenTimesMs.push(performance.now());
  seen.text += text;
  if (choice?.finish_reason) seen.finishReason = choice.finish_reason;
}

/** The data lines of a server-sent event stream, as they come. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) yield frame.replace(/^data: /, '');
  }
}
