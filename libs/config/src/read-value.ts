import { isObject, parseDuration } from '@baton/kernel';
import {
  isModulePath,
  type ListForm,
  type NumberTable,
  type Option,
  type OptionValue,
  type ValueForm,
} from './option';
import { sumOfTimes, timesByCause } from './time-by-cause';

/**
 * `complaint` continues after the option's name: `must be ...`. `path` is the place in a structure.
 */
export type ReadResult =
  | { readonly kind: 'value'; readonly value: OptionValue }
  | {
      readonly kind: 'problem';
      readonly complaint: string;
      readonly path: readonly (string | number)[];
    };

const OR_MODULE = ', or the path of an ES module';

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on']);
const FALSE_WORDS = new Set(['false', '0', 'no', 'off']);

const value = (read: OptionValue): ReadResult => ({ kind: 'value', value: read });

/** Reads the value of a flag or an environment variable. */
export function readText(option: Option, given: string): ReadResult {
  const trimmed = given.trim();
  if (option.form.kind === 'boolean') return readWord(option, trimmed.toLowerCase());
  if (option.form.kind === 'list')
    return readTyped(option, jsonOr(trimmed, '[') ?? (trimmed === '' ? [] : trimmed));
  if (option.form.kind === 'document')
    return readTyped(option, jsonOr(trimmed, '[', '{') ?? trimmed);
  if (option.form.kind === 'table') return readTyped(option, jsonOr(trimmed, '{') ?? trimmed);
  if (option.form.kind === 'integer' || option.form.kind === 'number') {
    const isNumeric = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed);
    return readTyped(option, isNumeric ? Number(trimmed) : trimmed);
  }
  return readTyped(option, trimmed);
}

/**
 * Reads a value of a YAML or JSON document: types must match, nothing is coerced. Null unsets an
 * option that may be unset.
 */
export function readTyped(option: Option, given: unknown): ReadResult {
  if (given === null || given === undefined) {
    return option.default === undefined ? value(undefined) : problem(option);
  }
  if (option.form.kind === 'document') return readDocument(option, option.form, given);
  const read = plainOf(option.form, given);
  return isAllowed(option.form, read) ? value(read) : problem(option);
}

/** A structure, or the JSON text of one, as a parent passes it to its children. */
function readDocument(
  option: Option,
  form: Extract<ValueForm, { kind: 'document' }>,
  given: unknown,
): ReadResult {
  const structure = typeof given === 'string' ? jsonOr(given, '[', '{') : given;
  if (structure === undefined) return problem(option);
  const read = form.read(structure);
  if (read.kind === 'document') return value(JSON.stringify(read.plain));
  return { kind: 'problem', complaint: read.complaint, path: read.path };
}

/** The JSON value of a text that begins like one; undefined when it is not JSON. */
function jsonOr(given: string, ...openings: ('[' | '{')[]): unknown {
  if (!openings.some((opening) => given.startsWith(opening))) return undefined;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Expands a short form of a value: a time with its unit becomes a number in the unit of the option,
 * a single text becomes a list. Other values stay unchanged.
 */
function plainOf(form: ValueForm, given: unknown): unknown {
  if (form.kind === 'list' && typeof given === 'string') {
    return form.choices === undefined ? [given] : given.split(',').map((name) => name.trim());
  }
  if (form.kind !== 'number' || form.duration === undefined || typeof given !== 'string') {
    return given;
  }
  return parseDuration(given, form.duration) ?? given;
}

/** A description of the values: `an integer from 1 to 65535`. */
export function expectation(form: ValueForm): string {
  switch (form.kind) {
    case 'text':
      return form.like === undefined ? 'a text' : `a text like ${form.like}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `one of ${form.choices.join(', ')}${form.orModule === true ? OR_MODULE : ''}`;
    case 'list':
      if (form.choices !== undefined) return `a list of ${form.choices.join(', ')}`;
      return form.like === undefined
        ? 'a text or a list of texts'
        : `a text like ${form.like}, or a list of such texts`;
    case 'document':
      return `a structure like ${form.like}`;
    case 'table':
      return `a table of rows with any of ${form.columns.join(', ')}, each an integer from 1`;
    case 'integer':
      return `an integer ${rangeInWords(form.min, form.max)}`;
    case 'number': {
      const example = form.duration === undefined ? '' : ', or a time like 200ms';
      const sum = form.causes === undefined ? '' : `, or times of ${form.causes.join(', ')}`;
      return `a number ${rangeInWords(form.min, form.max)}${example}${sum}`;
    }
  }
}

/** `[1].rate`: the notation of a place in a structure after the option's name. */
export function whereIn(path: readonly (string | number)[]): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
}

export function rangeInWords(min: number, max: number): string {
  return max >= Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
}

function readWord(option: Option, word: string): ReadResult {
  if (TRUE_WORDS.has(word)) return value(true);
  return FALSE_WORDS.has(word) ? value(false) : problem(option);
}

function problem({ form, excludes }: Option): ReadResult {
  const why = excludes === undefined ? '' : ` (${excludes})`;
  return { kind: 'problem', complaint: `must be ${expectation(form)}${why}`, path: [] };
}

function isAllowed(form: ValueForm, given: unknown): given is NonNullable<OptionValue> {
  switch (form.kind) {
    case 'text':
      return typeof given === 'string' && given !== '' && (form.pattern?.test(given) ?? true);
    case 'boolean':
      return typeof given === 'boolean';
    case 'choice':
      return typeof given === 'string' && (form.choices.includes(given) || isOwn(form, given));
    case 'list':
      return Array.isArray(given) && given.every((item) => isText(item) && isChosen(form, item));
    case 'document':
      return false;
    case 'table':
      return isTable(form.columns, given);
    case 'integer':
      return Number.isSafeInteger(given) && isWithin(form, Number(given));
    case 'number': {
      const times = typeof given === 'string' ? timesByCause(given, form) : undefined;
      const amount = times === undefined ? given : sumOfTimes(times);
      return typeof amount === 'number' && Number.isFinite(amount) && isWithin(form, amount);
    }
  }
}

function isOwn({ orModule = false }: { readonly orModule?: boolean }, given: string): boolean {
  return orModule && isModulePath(given);
}

function isChosen({ choices, pattern }: ListForm, item: string): boolean {
  return (choices?.includes(item) ?? true) && (pattern?.test(item) ?? true);
}

function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== '';
}

function isTable(columns: readonly string[], given: unknown): given is NumberTable {
  if (!isObject(given)) return false;
  return Object.entries(given).every(
    ([name, row]) =>
      isText(name) &&
      typeof row === 'object' &&
      row !== null &&
      Object.entries(row as object).every(
        ([column, cell]) => columns.includes(column) && Number.isSafeInteger(cell) && cell >= 1,
      ),
  );
}

function isWithin(range: { readonly min: number; readonly max: number }, given: number): boolean {
  return given >= range.min && given <= range.max;
}
