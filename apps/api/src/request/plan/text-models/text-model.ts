import type { BatonError } from '@baton/contract';
import type { SaidMessage } from '@baton/openai';
import type { AnswerSource } from '@baton/text';

/** A prompt for a text model: the client's messages, before any template. */
export interface TextPrompt {
  /** Name of the path, or of the shape when the path has no name of its own. */
  readonly endpoint: string;
  readonly model: string;
  readonly said: readonly SaidMessage[];
  /** Names of the tools that the answer may call. */
  readonly tools: readonly string[];
  readonly isStream: boolean;
  readonly user: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Header values by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** A number in [0, 1) drawn from prompt, model, seed and purpose. */
  readonly chance: (purpose: string) => number;
}

/** A text model's reply to a prompt. */
export interface Reply {
  /** Undefined when the answer is simulated. */
  readonly answers?: AnswerSource | undefined;
  /** Delay before any other work on the request, simulated ms. */
  readonly delayMs?: number | undefined;
  /** Replaces the answer. */
  readonly error?: BatonError | undefined;
}

/** Provides the answers to prompts. Called once per request, after the request has been checked. */
export interface TextModel {
  /** One reply per prompt of a request. @throws BatonError when they take too much work */
  replies(prompts: readonly TextPrompt[]): Promise<readonly Reply[]>;
  /** Stops watching files. */
  stopWatching(): void;
}

/** The last user message, if any. */
export function lastOfUser(said: readonly SaidMessage[]): string | undefined {
  return said.findLast(({ role }) => role === 'user')?.text;
}
