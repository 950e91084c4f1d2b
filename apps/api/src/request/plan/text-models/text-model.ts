import type { BatonError } from '@baton/contract';
import type { SaidMessage } from '@baton/openai';
import type { AnswerSource } from '@baton/text';

/** A prompt for a text model: the client's messages, before any template. */
export interface AskedPrompt {
  /** Of the path, or the shape where a path has none of its own. */
  readonly endpoint: string;
  readonly model: string;
  readonly said: readonly SaidMessage[];
  /** Names of the tools that the answer may call. */
  readonly tools: readonly string[];
  readonly isStream: boolean;
  readonly user: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** In [0, 1): drawn from prompt, model and seed, and from the purpose. */
  readonly chance: (purpose: string) => number;
}

/** A text model's reply to a prompt. */
export interface Reply {
  /** Undefined: simulated. */
  readonly answers?: AnswerSource | undefined;
  /** Delay before anything else is done with the request, simulated ms. */
  readonly delayMs?: number | undefined;
  /** Replaces the answer. */
  readonly error?: BatonError | undefined;
}

/** Provides the answers to prompts. Called once per prompt, after the request has been checked. */
export interface TextModel {
  reply(prompt: AskedPrompt): Reply;
  /** Ends its watch on files. */
  close(): void;
}

/** The last user message; undefined: none. */
export function lastOfUser(said: readonly SaidMessage[]): string | undefined {
  return said.findLast(({ role }) => role === 'user')?.text;
}
