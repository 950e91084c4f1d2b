import {
  type ConfigKey,
  fileName,
  flagName,
  optionOf,
  SECTIONS,
  type ValueForm,
} from '@baton/config';
import { type Command, Option } from 'commander';

/** Below the flags of a command that has the options of the configuration. */
export const OPTIONS_FOOTER = `
Each option of the groups from Cluster on can also be set in a YAML file (--config FILE) or in the
environment: --max-model-len is max_model_len in the file and BATON_MAX_MODEL_LEN in the
environment. A flag takes precedence over the environment, and the environment over the file.`;

/**
 * Adds a flag for every row of the table of options, under the headings of docs/configuration.md.
 */
export function addConfigOptions(command: Command): void {
  command.addOption(new Option('--config <file>', 'YAML file with options.').helpGroup('Options:'));
  for (const { title, keys } of SECTIONS) {
    for (const key of keys) {
      for (const option of optionsFor(key)) command.addOption(option.helpGroup(`${title}:`));
    }
  }
  command.addHelpText('after', OPTIONS_FOOTER);
}

/**
 * The flags of an option. A switch has a flag for on and one for off; the help shows the one that
 * changes the default, or both where the default depends on other options.
 */
function optionsFor(key: ConfigKey): Option[] {
  const row = optionOf(key);
  const flag = flagName(key);
  if (row.form.kind !== 'boolean') {
    const option = optionFor(row.form.kind, flag, description(key));
    const also = row.alsoFlag === undefined ? [] : [optionFor(row.form.kind, row.alsoFlag, '')];
    for (const second of also) second.hideHelp();
    return [row.hidden ? option.hideHelp() : option, ...also, ...shortFlagFor(key)];
  }
  const on = new Option(flag, description(key));
  const off = new Option(
    flag.replace('--', '--no-'),
    `Turn off ${fileName(key)}: ${description(key)}`,
  );
  return [on.hideHelp(row.default === true), off.hideHelp(row.default === false)];
}

function optionFor(kind: ValueForm['kind'], flag: string, description: string): Option {
  const isList = kind === 'list';
  const values = `${PLACEHOLDERS[kind]}${isList ? '...' : ''}`;
  const option = new Option(`${flag} <${values}>`, description);
  return isList ? option.argParser(withEarlier) : option;
}

/** Adds one item to a list; a JSON array sets the whole list. */
function withEarlier(given: string, earlier: unknown): string {
  if (typeof earlier !== 'string') return given;
  return JSON.stringify([earlier, given].flatMap(parseItems));
}

function parseItems(given: string): string[] {
  try {
    const items: unknown = JSON.parse(given);
    if (Array.isArray(items)) return items.map(String);
  } catch {
    // A text that is not JSON is used literally.
  }
  return [given];
}

/** The flag that sets one value of an option. */
function shortFlagFor(key: ConfigKey): Option[] {
  const { flagFor } = optionOf(key);
  if (flagFor === undefined) return [];
  const { flag, value } = flagFor;
  return [new Option(flag, `Short for ${flagName(key)} ${value}.`).implies({ [key]: value })];
}

const PLACEHOLDERS = {
  integer: 'n',
  number: 'x',
  text: 'text',
  choice: 'name',
  boolean: '',
  list: 'text',
  table: 'json',
  document: 'json',
};

function description(key: ConfigKey): string {
  const { form, help, unit, default: fallback, unset } = optionOf(key);
  const choices = form.kind === 'choice' ? ` One of ${namesOf(form)}.` : '';
  const measure = unit === undefined || fallback === undefined ? '' : ` ${unitOf(fallback, unit)}`;
  return `${help}${choices} (default: ${shown(fallback) || unset || 'none'}${measure})`;
}

function shown(fallback: unknown): string {
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off';
  return Array.isArray(fallback) ? fallback.join(' ') : String(fallback ?? '');
}

/** `1 token`, but `1 ms`. */
function unitOf(value: unknown, unit: string): string {
  return value === 1 ? unit.replace(/(?<=\w{3})s\b/, '') : unit;
}

function namesOf({ choices, orModule }: Extract<ValueForm, { kind: 'choice' }>): string {
  return [...choices, ...(orModule === true ? ['the path of an ES module'] : [])].join(', ');
}
