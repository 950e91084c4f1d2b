import { isObject } from '@baton/kernel';
import { type BatonConfig, configKeys, optionOf } from './config';
import { fileName } from './names';
import type { OptionValue } from './option';
import { readTyped, whereIn } from './read-value';
import { resolveConfig } from './resolve-config';
import { UsageError } from './usage-error';

/** The variable by which a parent hands its resolved configuration to a process it starts. */
export const CONFIG_VARIABLE = 'BATON_CONFIG';

/**
 * The resolved configuration as JSON with file names as keys, the form that results and child
 * processes carry.
 */
export function configToJson(config: BatonConfig): string {
  const values = configKeys()
    .filter((key) => config[key] !== undefined)
    .map((key) => [fileName(key), config[key]]);
  return JSON.stringify(Object.fromEntries(values));
}

/**
 * The configuration of this process: what the parent resolved (`BATON_CONFIG`), or else the
 * environment's own variables and defaults, for a process started by hand or by an orchestrator.
 */
export function configFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
): BatonConfig {
  const handed = env[CONFIG_VARIABLE];
  if (handed === undefined || handed === '') {
    return resolveConfig({ env, file: env['BATON_CONFIG_FILE'] }).config;
  }
  return configFromJson(handed);
}

function configFromJson(json: string): BatonConfig {
  const byName = new Map<string, unknown>(Object.entries(parseObject(json)));
  const config: Record<string, OptionValue> = {};
  for (const key of configKeys()) {
    const name = fileName(key);
    const option = optionOf(key);
    const read = byName.has(name)
      ? readTyped(option, byName.get(name))
      : ({ kind: 'value', value: option.default } as const);
    if (read.kind === 'problem') {
      throw new UsageError(`${CONFIG_VARIABLE}: ${name}${whereIn(read.path)} ${read.complaint}.`);
    }
    config[key] = read.value;
    byName.delete(name);
  }
  const [unknown] = byName.keys();
  if (unknown !== undefined)
    throw new UsageError(`${CONFIG_VARIABLE}: unknown option '${unknown}'.`);
  return config as BatonConfig;
}

function parseObject(json: string): object {
  try {
    const parsed: unknown = JSON.parse(json);
    if (isObject(parsed)) return parsed;
  } catch {
    // falls through to the one sentence below
  }
  throw new UsageError(`${CONFIG_VARIABLE} is not a JSON object.`);
}
