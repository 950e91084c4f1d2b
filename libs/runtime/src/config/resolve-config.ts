import { readFileSync } from 'node:fs';
import {
  type BatonConfig,
  type ConfigKey,
  configKeys,
  defaultConfig,
  isConfigKey,
  optionOf,
} from './config';
import { type FileValues, readConfigFile } from './config-file';
import { envName, flagName, keyOf, nearestName } from './names';
import type { OptionValue } from './option';
import { readText } from './read-value';
import { UsageError } from './usage-error';

/** Where a value came from. */
export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface ConfigSources {
  /** Values of flags by option name in any of its spellings; booleans for `--x` and `--no-x`. */
  readonly flags?: Readonly<Record<string, string | boolean>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Path of a YAML file. */
  readonly file?: string | undefined;
}

export interface ResolvedConfig {
  readonly config: BatonConfig;
  readonly origins: Readonly<Record<ConfigKey, Origin>>;
}

interface Found {
  readonly value: OptionValue;
  readonly origin: Origin;
}

/** What an orchestrator injects for a service of the name `baton`. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)|_PORT(_\d+_(TCP|UDP).*)?$/;

/** Names with the option prefix that are no options. */
const OTHER_VARIABLES = new Set([
  'BATON_CONFIG',
  'BATON_CONFIG_FILE',
  'BATON_CACHE_DIR',
  'BATON_PROCESS',
]);

/**
 * Resolves the configuration: a flag wins over the environment, that over the file, that over the default.
 * Throws a UsageError naming the flag, the variable, or file, line and column.
 */
export function resolveConfig(sources: ConfigSources = {}): ResolvedConfig {
  const env = sources.env ?? {};
  const file = sources.file === undefined ? new Map() : readFile(sources.file);
  refuseUnknownVariables(env);
  const layers = [flagValues(sources.flags ?? {}), environmentValues(env), fileValues(file)];
  const config: Record<string, OptionValue> = { ...defaultConfig() };
  const origins: Record<string, Origin> = {};
  for (const key of configKeys()) {
    const found = layers.map((layer) => layer.get(key)).find((each) => each !== undefined);
    if (found !== undefined) config[key] = found.value;
    origins[key] = found?.origin ?? 'default';
  }
  return { config: config as BatonConfig, origins: origins as Record<ConfigKey, Origin> };
}

function readFile(path: string): FileValues {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`The configuration file ${path} cannot be read.`);
  }
  return readConfigFile(path, content);
}

function fileValues(file: FileValues): Map<ConfigKey, Found> {
  return new Map([...file].map(([key, value]) => [key, { value, origin: 'file' }]));
}

function flagValues(flags: Readonly<Record<string, string | boolean>>): Map<ConfigKey, Found> {
  const found = new Map<ConfigKey, Found>();
  for (const [name, given] of Object.entries(flags)) {
    const key = keyOf(name);
    if (!isConfigKey(key)) throw new UsageError(unknownFlag(name));
    const value = fromText(key, String(given), flagName(key));
    found.set(key, { value, origin: 'flag' });
  }
  return found;
}

function environmentValues(
  env: Readonly<Record<string, string | undefined>>,
): Map<ConfigKey, Found> {
  const found = new Map<ConfigKey, Found>();
  for (const key of configKeys()) {
    const names = [envName(key), ...(optionOf(key).alsoEnv ?? [])];
    const name = names.find((each) => env[each] !== undefined && env[each] !== '');
    if (name === undefined) continue;
    found.set(key, { value: fromText(key, env[name] ?? '', name), origin: 'environment' });
  }
  return found;
}

function fromText(key: ConfigKey, given: string, name: string): OptionValue {
  const read = readText(optionOf(key), given);
  if (read.kind === 'value') return read.value;
  throw new UsageError(`${name} must be ${read.expected}; '${given}' is not.`);
}

/** `unknown option '--modle'; did you mean '--model'?`, with `flags` as those there are. */
export function unknownFlag(name: string, flags: readonly string[] = visibleFlags()): string {
  const given = `--${name.replace(/^--/, '').replaceAll('_', '-')}`;
  const nearest = nearestName(given, flags);
  return `unknown option '${given}'${nearest === undefined ? '.' : `; did you mean '${nearest}'?`}`;
}

function visibleFlags(): string[] {
  return [
    '--config',
    '--help',
    ...configKeys()
      .filter((key) => !optionOf(key).hidden)
      .map(flagName),
  ];
}

function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set(configKeys().map(envName));
  for (const name of Object.keys(env)) {
    if (!name.startsWith('BATON_') || known.has(name) || OTHER_VARIABLES.has(name)) continue;
    if (SERVICE_LINK.test(name)) continue;
    const nearest = nearestName(name, known);
    const hint = nearest === undefined ? '.' : `; did you mean ${nearest}?`;
    throw new UsageError(`unknown environment variable ${name}${hint}`);
  }
}
