import type { Stage } from '@baton/contract';
import type { Option, OptionValue } from './option';
import { ACCESS } from './tables/access';
import { AUTOSCALING } from './tables/autoscaling';
import { CLUSTER } from './tables/cluster';
import { ENGINE } from './tables/engine';
import { FAULTS } from './tables/faults';
import { FLOW_CONTROL } from './tables/flow-control';
import { HARDWARE } from './tables/hardware';
import { LIVENESS } from './tables/liveness';
import { PLACEMENT } from './tables/placement';
import { PROCESS } from './tables/process';
import { RECORDING } from './tables/recording';
import { REQUESTS } from './tables/requests';
import { EXECUTORS } from './tables/executors';
import { overrideKey, PER_STAGE, STAGES_ALONE } from './tables/stages';
import { STEP_TIME } from './tables/step-time';
import { TEXT } from './tables/text';

/**
 * All options, in the order of the documentation. This is the only place where options are
 * declared.
 */
export const OPTIONS = {
  ...CLUSTER,
  ...HARDWARE,
  ...ENGINE,
  ...STEP_TIME,
  ...REQUESTS,
  ...TEXT,
  ...ACCESS,
  ...PLACEMENT,
  ...FLOW_CONTROL,
  ...AUTOSCALING,
  ...LIVENESS,
  ...STAGES_ALONE,
  ...EXECUTORS,
  ...FAULTS,
  ...RECORDING,
  ...PROCESS,
} as const;

/** Headings of the help and of docs/configuration.md, with the options below each. */
export const SECTIONS: readonly { readonly title: string; readonly keys: readonly ConfigKey[] }[] =
  [
    { title: 'Cluster', keys: keysOf(CLUSTER) },
    { title: 'Model and hardware', keys: keysOf(HARDWARE) },
    { title: 'Engine', keys: keysOf(ENGINE) },
    { title: 'Step time', keys: keysOf(STEP_TIME) },
    { title: 'Requests', keys: keysOf(REQUESTS) },
    { title: 'Text', keys: keysOf(TEXT) },
    { title: 'Access', keys: keysOf(ACCESS) },
    { title: 'Placement', keys: keysOf(PLACEMENT) },
    { title: 'SLO classes and flow control', keys: keysOf(FLOW_CONTROL) },
    { title: 'Autoscaling', keys: keysOf(AUTOSCALING) },
    { title: 'Liveness', keys: keysOf(LIVENESS) },
    { title: 'Prefill and decode alone', keys: keysOf(STAGES_ALONE) },
    { title: 'Executing', keys: keysOf(EXECUTORS) },
    { title: 'Faults', keys: keysOf(FAULTS) },
    { title: 'Recording', keys: keysOf(RECORDING) },
    { title: 'Process', keys: keysOf(PROCESS) },
  ];

export type ConfigKey = keyof typeof OPTIONS;

type ValueOf<O> = O extends Option<infer V> ? V : never;

/**
 * The resolved configuration, read-only, in camel case; units and ranges stand with each option in
 * its table.
 */
export type BatonConfig = { readonly [K in ConfigKey]: ValueOf<(typeof OPTIONS)[K]> };

/** The row of an option without its own value type, for code that treats all alike. */
export function optionOf(key: ConfigKey): Option<OptionValue> {
  return OPTIONS[key];
}

export function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(OPTIONS, key);
}

/** Every option, in the order of the documentation. */
export function configKeys(): readonly ConfigKey[] {
  return keysOf(OPTIONS);
}

/** The defaults, with `overrides` on top: for tests and programs that resolve nothing. */
export function defaultConfig(overrides: Partial<BatonConfig> = {}): BatonConfig {
  const defaults = Object.entries(OPTIONS).map(([key, option]) => [key, option.default]);
  return { ...(Object.fromEntries(defaults) as BatonConfig), ...overrides };
}

/** The configuration for engines of `stage`: `prefill_gpu` in place of `gpu`, and so on. */
export function configForStage(config: BatonConfig, stage: Stage): BatonConfig {
  if (stage === 'aggregated') return config;
  const values = new Map<string, OptionValue>(Object.entries(config));
  const overrides = Object.keys(PER_STAGE)
    .map((key) => [key, values.get(overrideKey(stage, key))] as const)
    .filter(([, value]) => value !== undefined);
  return { ...config, ...Object.fromEntries(overrides) };
}

/** The configuration without private values, for API clients. */
export function withoutSecrets(config: BatonConfig): Partial<BatonConfig> {
  const shown = configKeys().filter((key) => optionOf(key).isSecret !== true);
  return Object.fromEntries(shown.map((key) => [key, config[key]]));
}

function keysOf(table: Partial<Record<ConfigKey, Option>>): ConfigKey[] {
  return Object.keys(table) as ConfigKey[];
}
