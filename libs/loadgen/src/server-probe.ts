import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '@baton/kernel';
import type { ServerAccess } from './server-access';

const ASK_MS = 10_000;
const RETRY_MS = 250;

/** The server's own facts before the run. */
export interface ServerFacts {
  readonly model: string;
  readonly maxModelLen: number | undefined;
  readonly notes: readonly string[];
}

interface Answer {
  readonly status: number;
  readonly document: unknown;
}

/**
 * Requests the models of a server. With a wait it repeats the request until the server is ready.
 *
 * @throws Failure when no server answers, or no model is given and the server names none
 */
export async function probeServer(server: ServerAccess, stop: AbortSignal): Promise<ServerFacts> {
  const { origin, prefix, readyTimeoutMs, model: requested } = server;
  const answer = await firstAnswer(server, performance.now() + readyTimeoutMs, stop);
  const models = modelsOf(answer.document);
  const model = requested ?? models[0]?.id;
  if (model === undefined) {
    throw new Failure(
      `${origin}${prefix}/v1/models names no model (HTTP ${answer.status}). Add --model.`,
    );
  }
  const listed = models.find(({ id }) => id === model);
  const names = models.map(({ id }) => id).join(', ');
  const isUnknown = listed === undefined && models.length > 0;
  return {
    model,
    maxModelLen: listed?.maxModelLen,
    notes: isUnknown ? [`The server lists ${names}, not ${model}.`] : [],
  };
}

async function firstAnswer(
  server: ServerAccess,
  untilMs: number,
  stop: AbortSignal,
): Promise<Answer> {
  for (;;) {
    if (stop.aborted) throw new Failure(`Interrupted while waiting for ${server.origin}.`);
    try {
      const answer = await ask(server, '/v1/models');
      if (answer.status < 500 || performance.now() >= untilMs) return answer;
    } catch (error) {
      if (performance.now() >= untilMs) {
        throw new Failure(`No server answers at ${server.origin}: ${reasonOf(error)}.`);
      }
    }
    await pause(RETRY_MS);
  }
}

/** Counts tokens of texts by the server's `/tokenize`, in vLLM's form. */
export class ServerTokenizer {
  constructor(
    private readonly server: ServerAccess,
    private readonly model: string,
  ) {}

  /** Undefined when the server has no such endpoint. */
  async count(prompt: string): Promise<number | undefined> {
    try {
      const { status, document } = await ask(this.server, '/tokenize', {
        model: this.model,
        prompt,
      });
      const { count } = (document ?? {}) as { count?: unknown };
      return status === 200 && typeof count === 'number' ? count : undefined;
    } catch {
      return undefined;
    }
  }
}

async function ask(server: ServerAccess, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${server.origin}${server.prefix}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: server.headers,
    signal: AbortSignal.timeout(ASK_MS),
  });
  const text = await answer.text();
  try {
    return { status: answer.status, document: JSON.parse(text) as unknown };
  } catch {
    return { status: answer.status, document: undefined };
  }
}

function modelsOf(document: unknown): { id: string; maxModelLen: number | undefined }[] {
  const { data } = (document ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) return [];
  return (data as unknown[]).flatMap((entry) => {
    const { id, max_model_len } = (entry ?? {}) as { id?: unknown; max_model_len?: unknown };
    if (typeof id !== 'string') return [];
    return { id, maxModelLen: typeof max_model_len === 'number' ? max_model_len : undefined };
  });
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string };
    message: string;
  };
  return cause?.code ?? cause?.message ?? message;
}
