import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { hashString, mix, unitOf } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import { type AnswerSource, promptHash } from '@baton/text';
import { Injectable } from '@nestjs/common';
import { Config } from '../../tokens';
import type { Call } from '../take/call';
import type { TextPrompt, Reply } from './text-models/text-model';
import { TextSetup } from './text-setup';

/** Paths with body shapes of their own, which are read again as a chat. */
const OWN_SHAPES: readonly (readonly [prefix: string, endpoint: string])[] = [
  ['/v1/responses', 'responses'],
  ['/v1/messages', 'messages'],
];

/** The sources of the answers to a request's prompts, in order. */
export type AnswerSources = readonly (AnswerSource | undefined)[];

const NONE: AnswerSources = [];

/** Gets the text model's replies to a request, and carries out their delays and errors. */
@Injectable()
export class Replies {
  /** True when no model reads prompts. */
  readonly isIdle: boolean;

  constructor(
    private readonly config: Config,
    private readonly setup: TextSetup,
  ) {
    this.isIdle = setup.parts.model === undefined;
  }

  /** Waits for the longest delay of the replies; throws the error if one of them has one. */
  async to(call: Call, request: GenerationRequest): Promise<AnswerSources> {
    const { model } = this.setup.parts;
    if (model === undefined) return NONE;
    const replies = await model.replies(this.promptsOf(call, request));
    await this.wait(call, replies);
    const error = replies.find((reply) => reply.error !== undefined)?.error;
    if (error !== undefined) throw error;
    return replies.map(({ answers }) => answers);
  }

  private async wait({ response }: Call, replies: readonly Reply[]): Promise<void> {
    const delayMs = Math.max(0, ...replies.map((reply) => reply.delayMs ?? 0));
    if (delayMs === 0) return;
    const end = new AbortController();
    const { signal } = end;
    const isOver = delay(delayMs / this.config.speedup, undefined, { signal });
    const hasLeft = once(response, 'close', { signal });
    await Promise.race([isOver, hasLeft]).finally(() => end.abort());
  }

  private promptsOf(call: Call, request: GenerationRequest): readonly TextPrompt[] {
    const { model, user, stream: isStream } = request;
    const shared = {
      model,
      user,
      isStream,
      headers: call.message.headers,
      endpoint: endpointOf(call.message, request),
      tools: (request.tools?.tools ?? []).map(({ name }) => name),
      metadata: metadataOf(call.body),
    };
    const seed = request.seed ?? this.config.seed;
    return request.prompts.map(({ ids, said = [] }) => {
      return { ...shared, said, chance: chanceOf({ promptIds: ids, model, seed }) };
    });
  }
}

/** The hash reads the whole prompt, so many rules with a probability share one. */
function chanceOf(hashed: Parameters<typeof promptHash>[0]): TextPrompt['chance'] {
  let hash: number | undefined;
  return (purpose) => unitOf(mix((hash ??= promptHash(hashed)), hashString(purpose)));
}

function endpointOf({ url = '' }: IncomingMessage, request: GenerationRequest): string {
  const own = OWN_SHAPES.find(([prefix]) => url.startsWith(prefix));
  return own?.[1] ?? request.endpoint;
}

function metadataOf(body: unknown): Readonly<Record<string, unknown>> {
  const metadata = (body as { readonly metadata?: unknown } | null)?.metadata;
  return typeof metadata === 'object' && metadata !== null ? { ...metadata } : {};
}
