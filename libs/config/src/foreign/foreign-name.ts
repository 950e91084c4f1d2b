import type { BatonConfig, ConfigKey } from '../config';
import type { OptionValue } from '../option';
import { LLM_D_NAMES } from './llm-d-names';
import { XPYD_SIM_NAMES, XPYD_SIM_VARIABLES } from './xpyd-sim-names';

/** The meaning of a name in another simulator's configuration. */
export type ForeignMeaning =
  | {
      readonly kind: 'option';
      readonly key: ConfigKey;
      /** The value for the option, if it is not the given value itself. */
      readonly value?: OptionValue;
      /** Further implied values, unless set elsewhere. */
      readonly implies?: Partial<BatonConfig>;
    }
  /** Has no effect because Baton always behaves so. */
  | { readonly kind: 'granted' }
  /** Accepted without effect, with a note. */
  | { readonly kind: 'left-out'; readonly why: string }
  /** Would change results in a way that Baton does not support. */
  | { readonly kind: 'refused'; readonly why: string };

/** The meaning may depend on the given value. */
export type ForeignName = ForeignMeaning | ((given: unknown) => ForeignMeaning);

/** Foreign options by name; a dot leads into a section. */
export type ForeignNames = Readonly<Record<string, ForeignName>>;

const FILE_NAMES = new Map(Object.entries({ ...LLM_D_NAMES, ...XPYD_SIM_NAMES }));
const SECTIONS = new Set([...FILE_NAMES.keys()].flatMap((name) => sectionOf(name) ?? []));
const VARIABLES = new Map(Object.entries(XPYD_SIM_VARIABLES));

/** Prefix of variables that are refused when unknown. */
export const FOREIGN_PREFIX = 'XPYD_SIM_';

/** Whether a key of a file is a section of another simulator's configuration. */
export function isForeignSection(name: string): boolean {
  return SECTIONS.has(name);
}

/** @param path name with underscores, a section before a dot */
export function foreignMeaning(path: string, given: unknown): ForeignMeaning | undefined {
  return meaningOf(FILE_NAMES.get(path), given);
}

export function foreignVariable(name: string, given: string): ForeignMeaning | undefined {
  return meaningOf(VARIABLES.get(name), given);
}

/** Candidates for a misspelled name. */
export function foreignNames(): readonly string[] {
  return [...FILE_NAMES.keys()];
}

export function foreignVariables(): readonly string[] {
  return [...VARIABLES.keys()];
}

function meaningOf(name: ForeignName | undefined, given: unknown): ForeignMeaning | undefined {
  return typeof name === 'function' ? name(given) : name;
}

function sectionOf(name: string): string | undefined {
  const dot = name.indexOf('.');
  return dot < 0 ? undefined : name.slice(0, dot);
}
