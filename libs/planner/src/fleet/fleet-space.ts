import { type BatonConfig, type ConfigKey, givenFields, UsageError } from '@baton/config';
import { findGpu, HardwareError } from '@baton/hardware';
import { isObject } from '@baton/kernel';
import { readNamedOption } from './named-option';

export const FLEET_KINDS = ['disaggregated', 'aggregated', 'mixed'] as const;
export type FleetKind = (typeof FLEET_KINDS)[number];

/** The engines and options that fleets may consist of, from one YAML file. */
export interface FleetSpace {
  /** Available GPUs by kind. */
  readonly gpus: ReadonlyMap<string, number>;
  /** Possible GPUs per engine and pipeline stage, for each role independently. */
  readonly tensorParallelSizes: readonly number[];
  readonly kinds: readonly FleetKind[];
  /** Loads that fleets are sized for, as multiples of the rate of the workload. */
  readonly loads: readonly number[];
  /** US dollars per hour. Infinity: no limit. */
  readonly budgetUsdPerHour: number;
  /** Options of the configuration, with their possible values. */
  readonly vary: readonly { readonly key: ConfigKey; readonly values: readonly unknown[] }[];
  /** Maximum number of fleets simulated on the shortest prefix. */
  readonly trials: number;
}

const FIELDS = [
  ...(['gpus', 'tensor_parallel_size', 'kinds', 'loads', 'budget_usd_per_hour'] as const),
  ...(['vary', 'trials'] as const),
];
/** Options that the search or the workload sets. */
const OWN = new RegExp(
  '^(topology|block_size|seed|changes|min|max|scale_policy|' +
    '(prefill_|decode_)?(gpu|tensor_parallel_size))$',
);
const MOST_GPUS = 4_096;
const MOST_SIZE = 64;
const MOST_COMBINATIONS = 1_024;
const MOST_TRIALS = 10_000;
const DEFAULTS = { sizes: [1, 2, 4, 8], loads: [0.5, 1, 2], trials: 48 } as const;

/**
 * Reads a space from the content of its YAML file.
 *
 * @param where  the file, for errors
 * @throws UsageError, one sentence that names the field
 */
export function readFleetSpace(content: unknown, where: string): FleetSpace {
  const wrong = (field: string, what: string): UsageError => {
    return new UsageError(`${where}: ${field} ${what}.`);
  };
  if (!isObject(content)) throw new UsageError(`${where} must be a map: ${FIELDS.join(', ')}.`);
  const unknown = Object.keys(content).find((name) => !FIELDS.some((field) => field === name));
  if (unknown !== undefined)
    throw wrong(unknown, `is unknown; the fields are ${FIELDS.join(', ')}`);
  const read = new Fields(content, wrong);
  return {
    gpus: gpusOf(content['gpus'], wrong),
    tensorParallelSizes: read.list('tensor_parallel_size', DEFAULTS.sizes, {
      is: (size) => isInteger(size, 1, MOST_SIZE),
      what: `integers from 1 to ${MOST_SIZE}`,
    }),
    kinds: read.list('kinds', FLEET_KINDS, {
      is: (kind) => FLEET_KINDS.some((one) => one === kind),
      what: `some of ${FLEET_KINDS.join(', ')}`,
    }),
    loads: read.list('loads', DEFAULTS.loads, {
      is: (load) => typeof load === 'number' && load > 0 && load <= 1e6,
      what: 'numbers above 0',
    }),
    budgetUsdPerHour: read.one('budget_usd_per_hour', Infinity, {
      is: (usd) => typeof usd === 'number' && usd > 0,
      what: 'a number above 0',
    }),
    vary: varyOf(content['vary'] ?? {}, where, wrong),
    trials: read.one('trials', DEFAULTS.trials, {
      is: (trials) => isInteger(trials, 1, MOST_TRIALS),
      what: `an integer from 1 to ${MOST_TRIALS}`,
    }),
  };
}

type Wrong = (field: string, what: string) => UsageError;

interface Check {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

class Fields {
  constructor(
    private readonly content: Readonly<Record<string, unknown>>,
    private readonly wrong: Wrong,
  ) {}

  one<T>(name: string, fallback: T, { is, what }: Check): T {
    const value = this.content[name];
    if (value === undefined) return fallback;
    if (!is(value)) throw this.wrong(name, `must be ${what}`);
    return value as T;
  }

  /** Each value once, in the order given. */
  list<T>(name: string, fallback: readonly T[], { is, what }: Check): readonly T[] {
    const value = this.content[name];
    if (value === undefined) return fallback;
    const isList = Array.isArray(value) && value.length > 0 && value.every(is);
    if (!isList) throw this.wrong(name, `must be a list of ${what}`);
    return [...new Set(value as T[])];
  }
}

function gpusOf(value: unknown, wrong: Wrong): ReadonlyMap<string, number> {
  if (!isObject(value) || Object.keys(value).length === 0) {
    throw wrong('gpus', 'must be a map of GPUs to their numbers, such as h100: 32');
  }
  return new Map(
    Object.entries(value).map(([name, count]) => {
      if (!isInteger(count, 1, MOST_GPUS)) {
        throw wrong(`gpus.${name}`, `must be an integer from 1 to ${MOST_GPUS}`);
      }
      return [gpuNamed(name, wrong), count as number];
    }),
  );
}

function gpuNamed(name: string, wrong: Wrong): string {
  try {
    return findGpu(name).name;
  } catch (error) {
    if (!(error instanceof HardwareError)) throw error;
    throw wrong(
      `gpus.${name}`,
      `is not a GPU of the catalogue. ${error.message.replace(/\.$/, '')}`,
    );
  }
}

/**
 * Reads `--vary`: a YAML map of options to values, or the path of such a file. Empty: not given.
 *
 * @throws UsageError, one sentence that names the option
 */
export function readVary(given: string | undefined): FleetSpace['vary'] {
  if (given === undefined) return [];
  const fields = givenFields('--vary', given);
  if (fields === undefined) {
    throw new UsageError(`--vary must be a map, for example {quantization: [none, fp8]}.`);
  }
  const { content, where } = fields;
  return varyOf(content, where, (field, what) => new UsageError(`${where}: ${field} ${what}.`));
}

function varyOf(value: unknown, where: string, wrong: Wrong): FleetSpace['vary'] {
  if (!isObject(value)) throw wrong('vary', 'must be a map of options to lists of values');
  const rows = Object.entries(value).map(([name, values]) => {
    if (OWN.test(name)) throw wrong(`vary.${name}`, 'is chosen by the search and cannot be varied');
    if (!Array.isArray(values) || values.length === 0) {
      throw wrong(`vary.${name}`, 'must be a list of values');
    }
    if (name === 'autoscaler' && values.some((one) => /^oracle\b/.test(String(one)))) {
      throw wrong('vary.autoscaler', 'cannot be an oracle, which knows the requests of one run');
    }
    const read = values.map((one) => readNamedOption(name, one, `${where}: vary.`));
    return { key: read[0]!.key, values: read.map((one) => one.value) };
  });
  const combinations = rows.reduce((product, { values }) => product * values.length, 1);
  if (combinations <= MOST_COMBINATIONS) return rows;
  throw wrong(
    'vary',
    `has ${combinations} combinations; at most ${MOST_COMBINATIONS} are possible`,
  );
}

/** Every combination of the values that `vary` lists, as parts of a configuration. */
export function combinationsOf({ vary }: FleetSpace): Partial<BatonConfig>[] {
  return vary.reduce<Partial<BatonConfig>[]>(
    (all, { key, values }) => all.flatMap((one) => values.map((each) => ({ ...one, [key]: each }))),
    [{}],
  );
}

function isInteger(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
