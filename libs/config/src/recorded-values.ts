import { type BatonConfig, type ConfigKey, configKeys, isConfigKey, optionOf } from './config';
import { fileName, keyOf } from './names';
import type { OptionValue } from './option';
import { readTyped } from './read-value';

/** Options of one process, and secrets: they do not apply to another run. */
const NOT_RECORDED = new Set<ConfigKey>([
  ...(['redis', 'redisPrefix', 'redisMaxmemory', 'broker', 'install'] as const),
  ...(['role', 'host', 'port'] as const),
  ...(['sslKeyfile', 'sslCertfile', 'sslCaCerts', 'sslCertReqs', 'enableSslRefresh'] as const),
  ...([
    'workerHost',
    'workerPort',
    'exposeEnginesPort',
    'record',
    'recordEndpointHeader',
    'logSteps',
    'logLevel',
    'logLevels',
  ] as const),
  ...(['recordAnswers', 'play', 'logRequests', 'logFrames', 'otlpTracesEndpoint'] as const),
]);

function isRecorded(key: ConfigKey): boolean {
  return !NOT_RECORDED.has(key) && optionOf(key).hidden !== true && !optionOf(key).isSecret;
}

/** The part of a configuration that a recording begins with, by file names. */
export function recordableConfig(config: BatonConfig): Record<string, OptionValue> {
  const keys = configKeys().filter((key) => isRecorded(key) && config[key] !== undefined);
  return Object.fromEntries(keys.map((key) => [fileName(key), config[key]]));
}

/**
 * The configuration of a recording, as values of options; a name or value unknown to this version
 * is left out and reported.
 */
export function recordedValues(recorded: Readonly<Record<string, unknown>>): {
  readonly values: ReadonlyMap<ConfigKey, OptionValue>;
  readonly notes: readonly string[];
} {
  const values = new Map<ConfigKey, OptionValue>();
  const notes: string[] = [];
  for (const [name, given] of Object.entries(recorded)) {
    const key = keyOf(name);
    if (isConfigKey(key) && !isRecorded(key)) continue;
    const read = isConfigKey(key) ? readTyped(optionOf(key), given) : undefined;
    if (isConfigKey(key) && read?.kind === 'value') values.set(key, read.value);
    else notes.push(`${name} of the recording is not known here and has no effect.`);
  }
  return { values, notes };
}
