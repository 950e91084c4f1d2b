import type { BatonError } from '@baton/contract';
import { spendWork } from '@baton/kernel';
import type { GivenAnswer } from '@baton/text';
import { type TextPrompt, lastOfUser } from '../text-model';

/** A condition on a text. It spends its work. */
export type TextTest = (text: string) => boolean;

/** The conditions on a request; absent fields match everything. */
export interface RuleMatch {
  readonly model?: readonly string[] | undefined;
  readonly endpoint?: readonly string[] | undefined;
  readonly user?: readonly string[] | undefined;
  /** Conditions on the last user message, on any message of any role, on instructions. */
  readonly message?: TextTest | undefined;
  readonly anyMessage?: TextTest | undefined;
  readonly system?: TextTest | undefined;
  /** By lower-case name: a value, or true for any. */
  readonly headers?: ReadonlyMap<string, string | true> | undefined;
  readonly metadata?: ReadonlyMap<string, string | number | boolean> | undefined;
  /** Whether the request offers tools; with names, whether it offers all of them. */
  readonly tools?: boolean | readonly string[] | undefined;
  readonly stream?: boolean | undefined;
}

/** The outcome for a request. */
export interface RuleOutcome {
  /** Undefined when the answer is simulated. */
  readonly given?: GivenAnswer | undefined;
  /** True when the content is the last user message. */
  readonly isEcho: boolean;
  /** Simulated ms. */
  readonly delayMs: number;
  readonly error?: BatonError | undefined;
}

export interface Rule {
  /** The text of the rule: an unchanged rule keeps its place in its sequence after a reload. */
  readonly key: string;
  readonly match: RuleMatch;
  /** Share of the matching requests, in (0, 1]. */
  readonly probability: number;
  /** The outcomes in turn; a single outcome repeats. */
  readonly outcomes: readonly RuleOutcome[];
  /** Names of the tools that the outcomes call. */
  readonly calledTools: readonly string[];
  /** True: the first outcome follows the last. False: the last repeats. */
  readonly isCycle: boolean;
}

/** First match wins; the fallback answers what no rule matches. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  readonly fallback: RuleOutcome | undefined;
}

const INSTRUCTING = new Set(['system', 'developer']);

/** A prompt and its texts by the condition that reads them. */
export interface RuledPrompt extends TextPrompt {
  readonly ofUser: string;
  readonly all: readonly string[];
  readonly instructions: readonly string[];
}

export function ruledPrompt(prompt: TextPrompt): RuledPrompt {
  const instructing = prompt.said.filter(({ role }) => INSTRUCTING.has(role));
  return {
    ...prompt,
    ofUser: lastOfUser(prompt.said) ?? '',
    all: prompt.said.map(({ text }) => text),
    instructions: instructing.map(({ text }) => text),
  };
}

/**
 * True when a rule answers a prompt. A call needs a tool that the request offers, so a rule with
 * calls matches no other request. It yields where its caller may pause.
 */
export function* isMatch(rule: Rule, prompt: RuledPrompt): Generator<void, boolean> {
  const { match, calledTools } = rule;
  return (
    hasFacts(match, prompt) &&
    (match.message?.(prompt.ofUser) ?? true) &&
    (yield* holdsInOne(match.anyMessage, prompt.all)) &&
    (yield* holdsInOne(match.system, prompt.instructions)) &&
    calledTools.every((name) => prompt.tools.includes(name))
  );
}

/** The conditions on everything but the texts. */
function hasFacts(match: RuleMatch, prompt: TextPrompt): boolean {
  spendWork(1);
  return (
    isOneOf(match.model, prompt.model) &&
    isOneOf(match.endpoint, prompt.endpoint) &&
    isOneOf(match.user, prompt.user) &&
    (match.stream === undefined || match.stream === prompt.isStream) &&
    hasTools(match.tools, prompt.tools) &&
    hasHeaders(match.headers, prompt.headers) &&
    [...(match.metadata ?? [])].every(([key, value]) => prompt.metadata[key] === value)
  );
}

function* holdsInOne(
  test: TextTest | undefined,
  texts: readonly string[],
): Generator<void, boolean> {
  if (test === undefined) return true;
  for (const text of texts) {
    yield;
    if (test(text)) return true;
  }
  return false;
}

function isOneOf(allowed: readonly string[] | undefined, value: string | undefined): boolean {
  return allowed === undefined || (value !== undefined && allowed.includes(value));
}

function hasTools(wanted: RuleMatch['tools'], offered: readonly string[]): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'boolean') return wanted === offered.length > 0;
  return wanted.every((name) => offered.includes(name));
}

function hasHeaders(wanted: RuleMatch['headers'], sent: TextPrompt['headers']): boolean {
  return [...(wanted ?? [])].every(([name, value]) => {
    const header = sent[name];
    if (header === undefined) return false;
    return value === true || (Array.isArray(header) ? header.includes(value) : header === value);
  });
}
