import type { BatonError } from '@baton/contract';
import type { GivenAnswer } from '@baton/text';
import { type AskedPrompt, lastOfUser } from '../text-model';

/** A condition on a text. */
export type TextTest = (text: string) => boolean;

/** What a request must be like; what is not given does not matter. */
export interface RuleMatch {
  readonly model?: readonly string[] | undefined;
  readonly endpoint?: readonly string[] | undefined;
  readonly user?: readonly string[] | undefined;
  /** Of the last user message, of any message of whoever, of instructions. */
  readonly message?: TextTest | undefined;
  readonly anyMessage?: TextTest | undefined;
  readonly system?: TextTest | undefined;
  /** By lower-case name: a value, or true for any. */
  readonly headers?: ReadonlyMap<string, string | true> | undefined;
  readonly metadata?: ReadonlyMap<string, string | number | boolean> | undefined;
  /** Whether the request offers tools; names: it offers them all. */
  readonly tools?: boolean | readonly string[] | undefined;
  readonly stream?: boolean | undefined;
}

/** What a request gets. */
export interface RuleOutcome {
  /** Undefined: simulated. */
  readonly given?: GivenAnswer | undefined;
  /** The content is what the user said last. */
  readonly isEcho: boolean;
  /** Simulated ms. */
  readonly delayMs: number;
  readonly error?: BatonError | undefined;
}

export interface Rule {
  /** The rule as it was written: a rule that is the same after a reload goes on where it was. */
  readonly key: string;
  readonly match: RuleMatch;
  /** Share of the matching requests, in (0, 1]. */
  readonly probability: number;
  /** One after the other; of one outcome, always that. */
  readonly outcomes: readonly RuleOutcome[];
  /** After the last outcome the first comes again; else the last stays. */
  readonly isCycle: boolean;
}

/** First match wins; the fallback answers what no rule matches. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  readonly fallback: RuleOutcome | undefined;
}

const INSTRUCTING = new Set(['system', 'developer']);

/**
 * Whether a rule answers a prompt. A call is only made where the request offers its tool, so a rule
 * with calls matches no other request.
 */
export function isMatch({ match, outcomes }: Rule, prompt: AskedPrompt): boolean {
  const { said, tools } = prompt;
  const calls = outcomes.flatMap(({ given }) => given?.calls ?? []);
  return (
    isOneOf(match.model, prompt.model) &&
    isOneOf(match.endpoint, prompt.endpoint) &&
    isOneOf(match.user, prompt.user) &&
    (match.stream === undefined || match.stream === prompt.isStream) &&
    hasTools(match.tools, tools) &&
    hasHeaders(match.headers, prompt.headers) &&
    [...(match.metadata ?? [])].every(([key, value]) => prompt.metadata[key] === value) &&
    (match.message?.(lastOfUser(said) ?? '') ?? true) &&
    (match.anyMessage === undefined || said.some(({ text }) => match.anyMessage?.(text))) &&
    (match.system === undefined ||
      said.some(({ role, text }) => INSTRUCTING.has(role) && match.system?.(text))) &&
    calls.every(({ name }) => tools.includes(name))
  );
}

function isOneOf(allowed: readonly string[] | undefined, value: string | undefined): boolean {
  return allowed === undefined || (value !== undefined && allowed.includes(value));
}

function hasTools(wanted: RuleMatch['tools'], offered: readonly string[]): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'boolean') return wanted === offered.length > 0;
  return wanted.every((name) => offered.includes(name));
}

function hasHeaders(wanted: RuleMatch['headers'], sent: AskedPrompt['headers']): boolean {
  return [...(wanted ?? [])].every(([name, value]) => {
    const header = sent[name];
    if (header === undefined) return false;
    return value === true || (Array.isArray(header) ? header.includes(value) : header === value);
  });
}
