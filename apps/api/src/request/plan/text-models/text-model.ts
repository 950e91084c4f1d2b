import type { BatonError } from '@baton/contract';
import type { SaidMessage } from '@baton/openai';
import type { AnswerSource } from '@baton/text';

/** A prompt as a text model sees it: what the client said, before any template. */
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

/** What a text model makes of a prompt. */
export interface Reply {
  /** Undefined: simulated. */
  readonly answers?: AnswerSource | undefined;
  /** Before anything else is done with the request, simulated ms. */
  readonly delayMs?: number | undefined;
  /** In place of an answer. */
  readonly error?: BatonError | undefined;
}

/**
 * Says what prompts are answered with. Called once per prompt, when the request has been checked.
 */
export interface TextModel {
  reply(prompt: AskedPrompt): Reply;
  /** Ends what it watches. */
  close(): void;
}

/** What the user said last; undefined: nothing. */
export function lastOfUser(said: readonly SaidMessage[]): string | undefined {
  return said.findLast(({ role }) => role === 'user')?.text;
}
