import { readFileSync } from 'node:fs';
import { nearestName, reasonOf } from '@baton/kernel';
import {
  type BatonConfig,
  type ConfigKey,
  configKeys,
  defaultConfig,
  isConfigKey,
  optionOf,
} from './config';
import { type ConfigFile, readConfigFile } from './config-file';
import { FOREIGN_PREFIX, foreignVariable, foreignVariables } from './foreign/foreign-name';
import { impliedStepTime } from './implied-step-time';
import { envName, flagName, keyOf } from './names';
import type { OptionValue } from './option';
import { readText, whereIn } from './read-value';
import { recordedValues } from './recorded-values';
import { UsageError } from './usage-error';
import { renamedTo } from './renamed';

/** The origin of a value. */
export type Origin =
  | 'flag'
  | 'environment'
  | 'file'
  /** Implied by another option. */
  | 'implied'
  /** The configuration of the replayed run. */
  | 'recording'
  | 'default';

type Variables = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  /** Values of flags by option name in any of its spellings; booleans for `--x` and `--no-x`. */
  readonly flags?: Readonly<Record<string, string | boolean>>;
  readonly env?: Variables;
  /** Path of a YAML file. */
  readonly file?: string | undefined;
  /** The configuration of a recorded run, by file names; replaces the defaults. */
  readonly recorded?: Readonly<Record<string, unknown>> | undefined;
}

export interface ResolvedConfig {
  readonly config: BatonConfig;
  readonly origins: Readonly<Record<ConfigKey, Origin>>;
  /** One sentence per name of another simulator that was accepted without effect. */
  readonly notes: readonly string[];
}

/** Origins of values that the user of this run has not named. */
const UNNAMED: ReadonlySet<Origin> = new Set(['default', 'recording']);

interface Found {
  readonly value: OptionValue;
  readonly origin: Origin;
}

const NO_FILE: ConfigFile = { values: new Map(), implied: {}, notes: [] };

/** Flags without a value that set a value of another option, such as `refuseExtrapolation`. */
const SHORT_FLAGS = new Set(
  configKeys()
    .flatMap((key) => optionOf(key).flagFor?.flag.slice(2) ?? [])
    .map(keyOf),
);

/** Keys by the second name of their flag. */
const ALSO_FLAGS = new Map(
  configKeys().flatMap((key): [string, ConfigKey][] => {
    const { alsoFlag } = optionOf(key);
    return alsoFlag === undefined ? [] : [[keyOf(alsoFlag.slice(2)), key]];
  }),
);

/** Variables that an orchestrator injects for a service named `baton`. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)|_PORT(_\d+_(TCP|UDP).*)?$/;

/** Names with the option prefix that are not options. */
const OTHER_VARIABLES = new Set([
  'BATON_BIN',
  'BATON_CONFIG',
  'BATON_CONFIG_FILE',
  'BATON_CACHE_DIR',
  'BATON_HEALTH_FILE',
  'BATON_PROCESS',
]);

/**
 * Resolves the configuration: a flag wins over the environment, that over the file, that over the
 * default. Throws a UsageError naming the flag, the variable, or file, line and column.
 */
export function resolveConfig(sources: ConfigSources = {}): ResolvedConfig {
  const env = sources.env ?? {};
  const file = sources.file === undefined ? NO_FILE : readFile(sources.file);
  refuseUnknownVariables(env);
  const environment = environmentValues(env);
  const implied = { ...file.implied, ...environment.implied };
  const recorded = recordedValues(sources.recorded ?? {});
  const layers = [
    flagValues(sources.flags ?? {}),
    environment.values,
    valuesFrom(file.values, 'file'),
    valuesFrom(impliedValues(implied), 'implied'),
    valuesFrom(recorded.values, 'recording'),
  ];
  const config: Record<string, OptionValue> = { ...defaultConfig() };
  const origins: Record<string, Origin> = {};
  for (const key of configKeys()) {
    const found = layers.map((layer) => layer.get(key)).find((each) => each !== undefined);
    if (found !== undefined) config[key] = found.value;
    origins[key] = found?.origin ?? 'default';
  }
  return withStepTime({
    config: config as BatonConfig,
    origins: origins as Record<ConfigKey, Origin>,
    notes: [...file.notes, ...environment.notes, ...recorded.notes],
  });
}

/** Latencies without a named model imply one. */
function withStepTime(resolved: ResolvedConfig): ResolvedConfig {
  const { config, origins } = resolved;
  const isGiven = (key: ConfigKey): boolean => !UNNAMED.has(origins[key]);
  if (isGiven('stepTime') || config.stepTimeFile !== undefined) return resolved;
  const stepTime = impliedStepTime(config, isGiven);
  if (stepTime === undefined) return resolved;
  return {
    ...resolved,
    config: { ...config, stepTime },
    origins: { ...origins, stepTime: 'implied' },
  };
}

function readFile(path: string): ConfigFile {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const why = reasonOf(error);
    throw new UsageError(`The configuration file ${path} cannot be read: ${why}.`);
  }
  return readConfigFile(path, content);
}

function impliedValues(implied: Partial<BatonConfig>): ReadonlyMap<ConfigKey, OptionValue> {
  return new Map(Object.entries(implied) as [ConfigKey, OptionValue][]);
}

function valuesFrom(
  values: ReadonlyMap<ConfigKey, OptionValue>,
  origin: Origin,
): Map<ConfigKey, Found> {
  return new Map([...values].map(([key, value]) => [key, { value, origin }]));
}

function flagValues(flags: Readonly<Record<string, string | boolean>>): Map<ConfigKey, Found> {
  const found = new Map<ConfigKey, Found>();
  for (const [name, given] of Object.entries(flags)) {
    const written = keyOf(name);
    const key = ALSO_FLAGS.get(written) ?? written;
    if (SHORT_FLAGS.has(key)) continue;
    if (!isConfigKey(key)) throw new UsageError(unknownFlag(name));
    const value = fromText(key, String(given), flagName(key));
    found.set(key, { value, origin: 'flag' });
  }
  return found;
}

interface Environment extends Pick<ConfigFile, 'implied' | 'notes'> {
  readonly values: Map<ConfigKey, Found>;
}

function environmentValues(env: Variables): Environment {
  const foreign = foreignValues(env);
  for (const key of configKeys()) {
    const names = [envName(key), ...(optionOf(key).alsoEnv ?? [])];
    const name = names.find((each) => env[each] !== undefined && env[each] !== '');
    if (name === undefined) continue;
    const value = fromText(key, env[name] ?? '', name);
    foreign.values.set(key, { value, origin: 'environment' });
  }
  return foreign;
}

/** The values of another simulator's variables; Baton's own override them. */
function foreignValues(env: Variables): Environment {
  const values = new Map<ConfigKey, Found>();
  const notes: string[] = [];
  let implied: Partial<BatonConfig> = {};
  for (const [name, given] of Object.entries(env)) {
    const meaning = given ? foreignVariable(name, given) : undefined;
    if (meaning?.kind === 'refused')
      throw new UsageError(`${name} is not supported: ${meaning.why}.`);
    if (meaning?.kind === 'left-out') notes.push(`${name} has no effect: ${meaning.why}.`);
    if (meaning?.kind !== 'option') continue;
    const value = meaning.value ?? fromText(meaning.key, given ?? '', name);
    values.set(meaning.key, { value, origin: 'environment' });
    implied = { ...implied, ...meaning.implies };
  }
  return { values, implied, notes };
}

function fromText(key: ConfigKey, given: string, name: string): OptionValue {
  const read = readText(optionOf(key), given);
  if (read.kind === 'value') return read.value;
  const ending = read.path.length === 0 ? `; '${given}' is not.` : '.';
  throw new UsageError(`${name}${whereIn(read.path)} ${read.complaint}${ending}`);
}

/** `unknown option '--modle'; did you mean '--model'?`, with `flags` as those there are. */
export function unknownFlag(name: string, flags: readonly string[] = visibleFlags()): string {
  const given = `--${name.replace(/^--/, '').replaceAll('_', '-')}`;
  const renamed = renamedTo(given.slice(2));
  if (renamed !== undefined) return `unknown option '${given}'; ${renamed}`;
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

function refuseUnknownVariables(env: Variables): void {
  const known = new Set([...configKeys().map(envName), ...foreignVariables()]);
  for (const name of Object.keys(env)) {
    const isOurs = name.startsWith('BATON_') || name.startsWith(FOREIGN_PREFIX);
    if (!isOurs || known.has(name) || OTHER_VARIABLES.has(name)) continue;
    if (SERVICE_LINK.test(name)) continue;
    const nearest = nearestName(name, known);
    const renamed = renamedTo(name.replace('BATON_', ''));
    const near = nearest === undefined ? '.' : `; did you mean ${nearest}?`;
    const hint = renamed === undefined ? near : `; ${renamed}`;
    throw new UsageError(`unknown environment variable ${name}${hint}`);
  }
}
