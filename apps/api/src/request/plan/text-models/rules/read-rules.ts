import { InjectedError } from '@baton/contract';
import { parseDuration, spendWork } from '@baton/kernel';
import { type GivenCall, patternTest, TextPatternError } from '@baton/text';
import type { RuleOutcome, Rule, RuleMatch, RuleSet, TextTest } from './rule';
import { readYaml, type YamlValue } from './yaml-fields';

const MAX_RULES = 1_000;
const MAX_OUTCOMES = 1_000;
const MAX_DELAY_MS = 3_600_000;
/** Characters of a message that a pattern reads at most. */
const PATTERN_REACH = 8_192;
/** Characters that are searched or compared in the time of one step of a pattern. */
const CHARACTERS_PER_UNIT = 256;

const OUTCOME = [
  ...(['answer', 'echo', 'reasoning', 'tool_calls', 'as_written', 'delay', 'error'] as const),
] as const;
const RULE = ['name', 'match', 'probability', 'sequence', 'cycle', ...OUTCOME] as const;
const MATCH = [
  ...(['model', 'endpoint', 'user', 'message', 'any_message', 'system'] as const),
  ...(['headers', 'metadata', 'tools', 'stream'] as const),
] as const;
const ENDPOINTS = ['chat', 'completions', 'responses', 'messages'];

type Fields<Key extends string> = Partial<Record<Key, YamlValue>>;

/**
 * Reads a file of rules. Throws a `UsageError` that begins with `path:line:column` for invalid
 * input.
 */
export function readReplyRules(path: string, content: string): RuleSet {
  const file = readYaml(path, content);
  const fields = file.fields(['rules', 'default']);
  const rules = fields.rules?.list() ?? [];
  if (rules.length > MAX_RULES) throw file.error(`there may be ${MAX_RULES} rules at most.`);
  return {
    rules: rules.map(ruleOf),
    fallback: fields.default && outcomeOf(fields.default.fields(OUTCOME)),
  };
}

function ruleOf(value: YamlValue): Rule {
  const fields = value.fields(RULE);
  const outcomes = outcomesOf(value, fields);
  const calls = outcomes.flatMap(({ given }) => given?.calls ?? []);
  return {
    key: JSON.stringify(value.plain),
    match: fields.match === undefined ? {} : matchOf(fields.match.fields(MATCH)),
    probability: fields.probability?.number(0, 1) ?? 1,
    outcomes,
    calledTools: [...new Set(calls.map(({ name }) => name))],
    isCycle: fields.cycle?.flag() ?? false,
  };
}

function outcomesOf(
  value: YamlValue,
  fields: Fields<(typeof RULE)[number]>,
): readonly RuleOutcome[] {
  const own = OUTCOME.find((key) => fields[key] !== undefined);
  if (fields.sequence === undefined) {
    if (own === undefined)
      throw value.error(`a rule needs one of ${OUTCOME.join(', ')}, sequence.`);
    return [outcomeOf(fields)];
  }
  if (own !== undefined) throw value.error(`a rule has a sequence or '${own}', not both.`);
  const steps = fields.sequence.list();
  if (steps.length === 0 || steps.length > MAX_OUTCOMES) {
    throw fields.sequence.error(`a sequence has 1 to ${MAX_OUTCOMES} steps.`);
  }
  return steps.map((step) => outcomeOf(step.fields(OUTCOME)));
}

function outcomeOf(fields: Fields<(typeof OUTCOME)[number]>): RuleOutcome {
  const { answer, echo, reasoning, tool_calls: calls, as_written: asWritten } = fields;
  const isEcho = echo?.flag() ?? false;
  if (isEcho && answer !== undefined) throw answer.error('an answer or an echo, not both.');
  const given = {
    ...(answer === undefined ? {} : { content: answer.text() }),
    ...(reasoning === undefined ? {} : { reasoning: reasoning.text() }),
    ...(calls === undefined ? {} : { calls: calls.list().map(callOf) }),
    isAsWritten: asWritten?.flag() ?? false,
  };
  const isGiven = answer !== undefined || reasoning !== undefined || calls !== undefined;
  return {
    given: isGiven ? given : undefined,
    isEcho,
    delayMs: fields.delay === undefined ? 0 : durationMs(fields.delay),
    error: fields.error && errorOf(fields.error),
  };
}

function callOf(value: YamlValue): GivenCall {
  const { name, arguments: args } = value.fields(['name', 'arguments']);
  if (name === undefined) throw value.error('a call needs the name of its tool.');
  if (args === undefined) return { name: name.text(), arguments: undefined };
  return { name: name.text(), arguments: args.isText ? args.text() : JSON.stringify(args.plain) };
}

function errorOf(value: YamlValue): InjectedError {
  const fields = value.fields(['status', 'code', 'message', 'param', 'retry_after']);
  const { status, code, message, param, retry_after: wait } = fields;
  const number = status?.number(400, 599) ?? 500;
  if (!Number.isInteger(number)) throw value.error('a status is a whole number.');
  return new InjectedError({
    status: number,
    ...(code === undefined ? {} : { openaiCode: code.text() }),
    ...(message === undefined ? {} : { message: message.text() }),
    ...(param === undefined ? {} : { param: param.text() }),
    ...(wait === undefined ? {} : { retryAfterSeconds: durationMs(wait, 1_000) / 1_000 }),
  });
}

/** A duration with its unit; a bare number has the unit `unitMs`. */
function durationMs(value: YamlValue, unitMs = 1): number {
  const given = value.scalar();
  const ms = typeof given === 'number' ? given * unitMs : parseDuration(String(given), 'ms');
  if (ms !== undefined && ms >= 0 && ms <= MAX_DELAY_MS) return ms;
  throw value.error(`a time like 200ms or 1.5s, of an hour at most; '${String(given)}' is none.`);
}

function matchOf(fields: Fields<(typeof MATCH)[number]>): RuleMatch {
  const { headers, metadata, tools } = fields;
  return {
    model: fields.model?.texts(),
    endpoint: fields.endpoint && endpointsOf(fields.endpoint),
    user: fields.user?.texts(),
    message: fields.message && testOf(fields.message),
    anyMessage: fields.any_message && testOf(fields.any_message),
    system: fields.system && testOf(fields.system),
    headers: headers && new Map(headers.entries().map(([name, value]) => headerOf(name, value))),
    metadata:
      metadata && new Map(metadata.entries().map(([name, value]) => [name, valueOf(value)])),
    tools: tools && (tools.isList || tools.isText ? tools.texts() : tools.flag()),
    stream: fields.stream?.flag(),
  };
}

function endpointsOf(value: YamlValue): string[] {
  const names = value.texts();
  const unknown = names.find((name) => !ENDPOINTS.includes(name));
  if (unknown === undefined) return names;
  throw value.error(`an endpoint is one of ${ENDPOINTS.join(', ')}; '${unknown}' is not.`);
}

function headerOf(name: string, value: YamlValue): [string, string | true] {
  if (value.scalar() === true) return [name.toLowerCase(), true];
  return [name.toLowerCase(), String(valueOf(value))];
}

function valueOf(value: YamlValue): string | number | boolean {
  const scalar = value.scalar();
  if (typeof scalar === 'string' || typeof scalar === 'number' || typeof scalar === 'boolean') {
    return scalar;
  }
  throw value.error('a text, a number, true or false.');
}

/** A text that the message must contain, or a map with another condition. */
function testOf(value: YamlValue): TextTest {
  if (value.isText) return containing(value.text());
  const { contains, equals, regex } = value.fields(['contains', 'equals', 'regex']);
  const tests = [
    ...(contains === undefined ? [] : [containing(contains.text())]),
    ...(equals === undefined ? [] : [equalTo(equals.text())]),
    ...(regex === undefined ? [] : [matching(regex)]),
  ];
  if (tests.length === 0) throw value.error('one of contains, equals, regex.');
  return (text) => tests.every((test) => test(text));
}

function containing(part: string): TextTest {
  return spending((text) => text.includes(part));
}

function equalTo(whole: string): TextTest {
  return spending((text) => text.trim() === whole.trim());
}

/** A pattern counts its own steps. */
function spending(test: TextTest): TextTest {
  return (text) => {
    spendWork(1 + text.length / CHARACTERS_PER_UNIT);
    return test(text);
  };
}

/** Takes time linear in the text for every pattern. */
function matching(value: YamlValue): TextTest {
  try {
    const test = patternTest(value.text());
    return (text) => test(text.slice(0, PATTERN_REACH));
  } catch (error) {
    if (error instanceof TextPatternError)
      throw value.error(`no usable pattern: ${error.message}.`);
    throw error;
  }
}
