import { FAULT_STAGES, type FaultKind } from '../fault';
import { isObject, parseDuration } from '@baton/kernel';
import {
  type FaultRule,
  type FieldForm,
  type FieldName,
  FIELDS,
  fieldNamesOf,
  KINDS,
} from './rule';

/** Most rules of one cluster. */
export const MAX_RULES = 100;

/** `path` is the place of the error. `complaint` follows the name of that place: `must be ...`. */
export interface RuleProblem {
  readonly path: readonly (string | number)[];
  readonly complaint: string;
}

export type RulesRead =
  | { readonly kind: 'rules'; readonly rules: readonly FaultRule[] }
  | { readonly kind: 'problem'; readonly problem: RuleProblem };

/** Ends the reading at the first error. */
class Wrong {
  constructor(
    readonly path: RuleProblem['path'],
    readonly what: string,
  ) {}
}

/** Reads a list of rules from parsed YAML or JSON. Field names may have dashes or underscores. */
export function readRules(given: unknown): RulesRead {
  try {
    return { kind: 'rules', rules: rulesOf(given) };
  } catch (wrong) {
    if (!(wrong instanceof Wrong)) throw wrong;
    return { kind: 'problem', problem: { path: wrong.path, complaint: wrong.what } };
  }
}

/** The rules in the users' notation, for files and answers. */
export function writeRules(rules: readonly FaultRule[]): Record<string, string | number>[] {
  return rules.map((rule) =>
    Object.fromEntries(
      Object.entries(rule).map(([field, value]) => [spelled(field), value as string | number]),
    ),
  );
}

function rulesOf(given: unknown): FaultRule[] {
  if (!Array.isArray(given)) throw new Wrong([], 'must be a list of rules');
  if (given.length > MAX_RULES) throw new Wrong([], `must be at most ${MAX_RULES} rules`);
  const rules = given.map((entry: unknown, i) => ruleOf(entry, i));
  const names = rules.map(({ name }) => name);
  rules.forEach(({ name }, i) => {
    if (names.indexOf(name) !== i) throw new Wrong([i, 'name'], `'${name}' is given twice`);
  });
  return rules;
}

function ruleOf(entry: unknown, index: number): FaultRule {
  if (!isObject(entry)) throw new Wrong([index], 'must be a map with at and fault');
  const named = new Map(Object.entries(entry).map(([name, value]) => [name, value]));
  const at = chosen(entry['at'], FAULT_STAGES, [index, 'at']);
  const fault = chosen(entry['fault'], Object.keys(KINDS) as FaultKind[], [index, 'fault']);
  const { stages, needs } = KINDS[fault];
  if (!stages.includes(at)) {
    throw new Wrong([index, 'fault'], `${fault} happens at ${stages.join(', ')}, not at ${at}`);
  }
  named.delete('at');
  named.delete('fault');
  const known = new Map(fieldNamesOf(fault, at).map((field) => [spelled(field), field]));
  const values = new Map<FieldName, string | number>();
  for (const [name, value] of named) {
    const field = known.get(name.replaceAll('-', '_'));
    if (field === undefined) {
      throw new Wrong([index, name], unknownField(fault, at, [...known.keys()]));
    }
    values.set(field, valueOf(FIELDS[field], value, [index, name]));
  }
  for (const field of needs) {
    if (!values.has(field)) throw new Wrong([index], `needs ${spelled(field)} for ${fault}`);
  }
  const { name = `fault-${index + 1}`, ...rest } = Object.fromEntries(values);
  return { name, at, fault, ...rest } as FaultRule;
}

function unknownField(fault: FaultKind, at: string, known: readonly string[]): string {
  return `is not a field of ${fault} at ${at} (${known.join(', ')})`;
}

function chosen<T extends string>(
  given: unknown,
  choices: readonly T[],
  path: RuleProblem['path'],
): T {
  const found = choices.find((choice) => choice === given);
  if (found !== undefined) return found;
  throw new Wrong(path, `must be one of ${choices.join(', ')}`);
}

function valueOf(form: FieldForm, given: unknown, path: RuleProblem['path']): string | number {
  if (form.kind === 'text') {
    const isText = typeof given === 'string' && given !== '' && given.length <= 1_000;
    if (isText && (form.pattern?.test(given) ?? true)) return given;
    throw new Wrong(path, `must be a text like ${form.like}`);
  }
  const read =
    form.kind === 'seconds' && typeof given === 'string' ? parseDuration(given, 's') : given;
  const isNumber = typeof read === 'number' && Number.isFinite(read);
  const isWhole = form.kind !== 'integer' || Number.isSafeInteger(read);
  if (isNumber && isWhole && read >= form.min && read <= form.max) return read;
  throw new Wrong(path, `must be ${expected(form)}`);
}

function expected(form: Exclude<FieldForm, { kind: 'text' }>): string {
  const range = `from ${form.min} to ${form.max}`;
  switch (form.kind) {
    case 'integer':
      return `an integer ${range}`;
    case 'number':
      return `a number ${range}`;
    case 'seconds':
      return `a number of seconds ${range}, or a time like 200ms`;
  }
}

function spelled(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
