import { isObject, nearestName } from '@baton/kernel';
import { type BatonConfig, type ConfigKey, configKeys, isConfigKey, optionOf } from '../config';
import { fileName, keyOf } from '../names';
import { isModulePath, type OptionValue } from '../option';
import { readTyped, whereIn } from '../read-value';
import { UsageError } from '../usage-error';

/** Options that may change while a cluster runs. All others are fixed at the start of a process. */
export const CHANGEABLE = [
  'faults',
  'failureInjectionRate',
  'failureTypes',
  'fakeMetrics',
  'placement',
  'decodePlacement',
  'placementFallback',
  'decodeChoice',
  'disaggregationThreshold',
  'prefixBalanceThreshold',
  'prefixOverlapWeight',
  'stickyVirtualNodes',
  'stickyLoadFactor',
] as const satisfies readonly ConfigKey[];

/** Longest name of a client that an error message repeats. */
const MAX_NAME_LENGTH = 100;

export type ChangeableKey = (typeof CHANGEABLE)[number];

/** New values by key; null: unset. */
export type Changes = Partial<Record<ChangeableKey, Exclude<OptionValue, undefined> | null>>;

/**
 * A client's changes, by any spelling of the options' names. Fake metrics are merged with the
 * current ones, as in llm-d-inference-sim; all other values replace the current ones.
 *
 * @throws UsageError with one sentence for the first name or value that is wrong
 */
export function readChanges(given: Readonly<Record<string, unknown>>, now: BatonConfig): Changes {
  const changes: Changes = {};
  for (const [name, wanted] of Object.entries(given)) {
    const key = changeable(name);
    const whole = key === 'fakeMetrics' ? withEarlier(wanted, now.fakeMetrics) : wanted;
    const read = readTyped(optionOf(key), whole);
    if (read.kind === 'problem') {
      const place = `${fileName(key)}${whereIn(read.path)}`.slice(0, MAX_NAME_LENGTH);
      throw new UsageError(`${place} ${read.complaint}.`);
    }
    refuseNewModule(key, read.value, now);
    changes[key] = read.value ?? null;
  }
  return changes;
}

/** The configuration with changes on top. */
export function withChanges(config: BatonConfig, changes: Changes): BatonConfig {
  const values = Object.entries(changes).map(([key, value]) => [key, value ?? undefined]);
  return { ...config, ...(Object.fromEntries(values) as Partial<BatonConfig>) };
}

/** The current values of changeable options, by file names; structures as structures. */
export function changeableValues(config: BatonConfig): Record<string, unknown> {
  return Object.fromEntries(
    CHANGEABLE.map((key) => {
      const value = config[key];
      const isDocument = optionOf(key).form.kind === 'document' && typeof value === 'string';
      return [fileName(key), isDocument ? (JSON.parse(value) as unknown) : (value ?? null)];
    }),
  );
}

/** A module runs with the rights of the cluster, so no module can be set over the network. */
function refuseNewModule(key: ChangeableKey, value: OptionValue, now: BatonConfig): void {
  const isModule = optionOf(key).form.kind === 'choice' && isModulePath(String(value));
  if (!isModule || value === now.placement || value === now.decodePlacement) return;
  throw new UsageError(
    `${fileName(key)} cannot become the module ${String(value)} while the cluster runs; ` +
      'give it when the cluster starts.',
  );
}

function changeable(name: string): ChangeableKey {
  const key = keyOf(name);
  const found = CHANGEABLE.find((each) => each === key);
  if (found !== undefined) return found;
  if (isConfigKey(key) && optionOf(key).hidden !== true) {
    throw new UsageError(
      `${fileName(key)} cannot change while the cluster runs; these can: ` +
        `${CHANGEABLE.map(fileName).join(', ')}.`,
    );
  }
  const shown = name.slice(0, MAX_NAME_LENGTH);
  const nearest = nearestName(fileName(keyOf(shown)), configKeys().map(fileName));
  const hint = nearest === undefined ? '.' : `; did you mean '${nearest}'?`;
  throw new UsageError(`unknown option '${shown}'${hint}`);
}

function withEarlier(wanted: unknown, earlier: string | undefined): unknown {
  if (!isObject(wanted) || earlier === undefined) return wanted;
  return { ...dashed(JSON.parse(earlier) as object), ...dashed(wanted) };
}

/** One spelling, so that one name replaces the other. */
function dashed(given: object): object {
  const entries = Object.entries(given) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replaceAll('_', '-'), value] as const),
  );
}
