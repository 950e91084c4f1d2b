/** Unit of a time without a unit. */
export type DurationUnit = 'ms' | 's';

/** Unit of a time, and its clock: wall time, or simulated time, which `speedup` divides. */
type TimeUnit = DurationUnit | `${DurationUnit}, simulated`;

/** Whole numbers by column, of rows that the user names. */
export type NumberTable = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A plain value of one option. Undefined when the option is not set and its effect is derived. */
export type OptionValue = string | number | boolean | readonly string[] | NumberTable | undefined;

/** Path of an ES module. */
export type ModulePath = `${string}.mjs` | `${string}.js`;

export function isModulePath(given: string): given is ModulePath {
  return /.\.m?js$/.test(given);
}

/** A time by its causes: `image-pull=20s,weights=35s`. */
export type TimeByCause = `${string}=${string}`;

export interface ListForm {
  readonly kind: 'list';
  readonly choices?: readonly string[];
  /** Of each text. */
  readonly pattern?: RegExp;
  readonly like?: string;
}

/** The notation of a value and the allowed values. */
export type ValueForm =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly like?: string }
  | {
      readonly kind: 'integer' | 'number';
      readonly min: number;
      readonly max: number;
      /**
       * The number is a time in this unit and may also be written with its own: `1.5s`, `200ms`.
       */
      readonly duration?: DurationUnit;
      /** The time may be written by these causes: `weights=35s,warm-up=5s`. */
      readonly causes?: readonly string[];
    }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'choice';
      readonly choices: readonly string[];
      /** Whether the path of a user's ES module is also a value. */
      readonly orModule?: boolean;
    }
  /** A list. As a flag, it is repeated or given once as a JSON array. */
  | ListForm
  /** A table. As a flag, it is a JSON object. */
  | { readonly kind: 'table'; readonly columns: readonly string[] }
  /** A structure with its own rules, kept as JSON text. As a flag: that text. */
  | {
      readonly kind: 'document';
      readonly like: string;
      readonly read: ReadDocument;
      readonly schema: object;
    };

/**
 * The value of a document, or the place of its error: the message continues after the name of the
 * place.
 */
export type DocumentRead =
  | { readonly kind: 'document'; readonly plain: unknown }
  | {
      readonly kind: 'problem';
      readonly path: readonly (string | number)[];
      readonly complaint: string;
    };

export type ReadDocument = (given: unknown) => DocumentRead;

export interface OptionNotes {
  /** One or two sentences for a reader who meets the option for the first time. */
  readonly help: string;
  /** In the error about a wrong value: common values that are not allowed, and why. */
  readonly excludes?: string;
  /** Unit of a number, `s`, `ms`, `tokens`. */
  readonly unit?: string;
  /** Further environment variables that set it, after its own. */
  readonly alsoEnv?: readonly string[];
  /** A flag without a value that sets the option to one. */
  readonly flagFor?: { readonly flag: string; readonly value: string };
  /** A second name of its flag. */
  readonly alsoFlag?: `--${string}`;
  /** For tests and fault injection: accepted everywhere, not listed in any help. */
  readonly hidden?: boolean;
  /** True when neither results nor the API show the value. */
  readonly isSecret?: boolean;
  /** The value of an unset option. */
  readonly unset?: string;
}

/**
 * One row of the table from which flags, environment, file keys, JSON Schema and documentation are
 * made.
 */
export interface Option<T extends OptionValue = OptionValue> extends OptionNotes {
  readonly form: ValueForm;
  readonly default: T;
}

/** Lowest and highest allowed value, both included. */
export type OptionRange = readonly [min: number, max: number];

type TextNotes = OptionNotes & { readonly pattern?: RegExp; readonly like?: string };

function textForm({ pattern, like }: TextNotes): ValueForm {
  return {
    kind: 'text',
    ...(pattern === undefined ? {} : { pattern }),
    ...(like === undefined ? {} : { like }),
  };
}

export function text(fallback: string, notes: TextNotes): Option<string> {
  return { ...notes, form: textForm(notes), default: fallback };
}

export function optionalDocument(
  notes: OptionNotes & Omit<Extract<ValueForm, { kind: 'document' }>, 'kind'>,
): Option<string | undefined> {
  const { like, read, schema, ...rest } = notes;
  return { ...rest, form: { kind: 'document', like, read, schema }, default: undefined };
}

/** Some of these names, in any order. */
export function someOf<const C extends string>(
  choices: readonly C[],
  fallback: readonly C[],
  notes: OptionNotes,
): Option<readonly C[]> {
  return { ...notes, form: { kind: 'list', choices }, default: fallback };
}

export function optionalText(notes: TextNotes): Option<string | undefined> {
  return { ...notes, form: textForm(notes), default: undefined };
}

export function integer(fallback: number, range: OptionRange, notes: OptionNotes): Option<number> {
  return { ...notes, form: { kind: 'integer', min: range[0], max: range[1] }, default: fallback };
}

export function optionalInteger(
  range: OptionRange,
  notes: OptionNotes,
): Option<number | undefined> {
  return { ...notes, form: { kind: 'integer', min: range[0], max: range[1] }, default: undefined };
}

export function number(fallback: number, range: OptionRange, notes: OptionNotes): Option<number> {
  return { ...notes, form: { kind: 'number', min: range[0], max: range[1] }, default: fallback };
}

export function optionalNumber(range: OptionRange, notes: OptionNotes): Option<number | undefined> {
  return { ...notes, form: { kind: 'number', min: range[0], max: range[1] }, default: undefined };
}

/** A time, as a number in `unit` or with its own unit. */
export function duration(
  fallback: number,
  range: OptionRange,
  notes: OptionNotes & { readonly unit: TimeUnit },
): Option<number> {
  return { ...notes, form: durationForm(range, notes.unit), default: fallback };
}

/** @param causes may be given one by one, in their order in time; the value is then the text */
export function durationByCause(
  causes: readonly string[],
  range: OptionRange,
  notes: OptionNotes & { readonly unit: TimeUnit },
): Option<number | TimeByCause> {
  return { ...notes, form: { ...durationForm(range, notes.unit), causes }, default: 0 };
}

export function optionalDuration(
  range: OptionRange,
  notes: OptionNotes & { readonly unit: TimeUnit },
): Option<number | undefined> {
  return { ...notes, form: durationForm(range, notes.unit), default: undefined };
}

function durationForm([min, max]: OptionRange, unit: TimeUnit) {
  const duration: DurationUnit = unit.startsWith('ms') ? 'ms' : 's';
  return { kind: 'number' as const, min, max, duration };
}

export function toggle(fallback: boolean, notes: OptionNotes): Option<boolean> {
  return { ...notes, form: { kind: 'boolean' }, default: fallback };
}

export function optionalToggle(notes: OptionNotes): Option<boolean | undefined> {
  return { ...notes, form: { kind: 'boolean' }, default: undefined };
}

/** Texts, none of them empty. */
export function list(fallback: readonly string[], notes: TextNotes): Option<readonly string[]> {
  return { ...notes, form: { ...textForm(notes), kind: 'list' }, default: fallback };
}

/** Texts, none of them empty; without any, the option is unset. */
export function optionalList(notes: OptionNotes): Option<readonly string[] | undefined> {
  return { ...notes, form: { kind: 'list' }, default: undefined };
}

/** Rows with user-defined names, each with some of the columns. */
export function optionalTable(
  columns: readonly string[],
  notes: OptionNotes,
): Option<NumberTable | undefined> {
  return { ...notes, form: { kind: 'table', columns }, default: undefined };
}

export function choice<const C extends string>(
  choices: readonly C[],
  fallback: C,
  notes: OptionNotes,
): Option<C> {
  return { ...notes, form: { kind: 'choice', choices }, default: fallback };
}

export function optionalChoice<const C extends string>(
  choices: readonly C[],
  notes: OptionNotes,
): Option<C | undefined> {
  return { ...notes, form: { kind: 'choice', choices }, default: undefined };
}

/** One of the names, or a user's ES module. */
export function choiceOrModule<const C extends string>(
  choices: readonly C[],
  fallback: C,
  notes: OptionNotes,
): Option<C | ModulePath> {
  return { ...notes, form: { kind: 'choice', choices, orModule: true }, default: fallback };
}

export function optionalChoiceOrModule<const C extends string>(
  choices: readonly C[],
  notes: OptionNotes,
): Option<C | ModulePath | undefined> {
  return { ...notes, form: { kind: 'choice', choices, orModule: true }, default: undefined };
}
