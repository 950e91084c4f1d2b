import { availableParallelism } from 'node:os';
import { flagName, keyOf, UsageError } from '@baton/config';
import { parseDuration } from '@baton/kernel';
import {
  readVary,
  type SloTarget,
  type FleetRequest,
  type GivenSizes,
  type PlanRequest,
  type SearchOptions,
} from '@baton/planner';
import {
  flagNameOf,
  splitWorkloadFlags,
  type WorkloadFlag,
  type WorkloadFlags,
} from '@baton/replay';
import { type Command, Option } from 'commander';
import { addCostOptions, readCostFlags } from '../cost-options';
import { addConfigOptions } from '../options';
import { type GivenReplayFlags, partConfig, readSlo, flagText } from '../replay/replay-flags';
import { addWorkloadOptions } from '../workload-options';

/** The flags of `baton plan`, grouped by their use. */
export interface PlanFlags extends PlanRequest, SearchOptions {
  readonly config: GivenReplayFlags;
  /** A YAML file with options. */
  readonly configFile: string | undefined;
  readonly planners: boolean;
  readonly json: boolean;
  /** Whether tables have all columns and may exceed 100 characters. */
  readonly wide: boolean;
  /** Folder for files. */
  readonly out: string | undefined;
}

const MOST_GPUS = 1024;
const MOST_SIZE = 64;
const MOST_THREADS = 256;
const MOST_SPLITS = 10_000;
const ATTAINMENT = 0.9;
const SIMULATED = 40;

export function addPlanOptions(command: Command): void {
  const flag = (text: string, help: string): void => {
    command.addOption(new Option(text, help).helpGroup('Plan:'));
  };
  flag('--gpus <n>', 'Number of GPUs to divide into engines; all are used.');
  flag(
    '--space <file>',
    'YAML file of GPUs by kind, engine sizes and options to search, for the Pareto front of ' +
      'cost, goodput, TTFT, TPOT and power (docs/planning.md; default: --gpus of one kind).',
  );
  flag(
    '--autoscalers <list>',
    'Autoscalers and modules to compare on the workload, within --min and --max, instead of a ' +
      'search: hpa:ttft,keda:5,./mine.mjs. Adds the best fixed split and the oracles.',
  );
  flag('--slo <bounds>', 'Latency targets of each request, for example ttft=2s,tpot=50ms.');
  flag(
    '--attainment <share>',
    `Share of requests that must meet --slo, 0 to 1 (default: ${ATTAINMENT}).`,
  );
  flag('--tp <list>', 'GPUs per engine to search, for example 2,4,8 (default: 1,2,4,8).');
  flag(
    '--prefill-tp <list>',
    'GPUs per prefill engine to search, for example 2,4 (default: the list of --tp).',
  );
  flag(
    '--decode-tp <list>',
    'GPUs per decode engine to search, for example 2,4 (default: the list of --tp).',
  );
  flag(
    '--simulate <n>',
    'Maximum number of splits to simulate, in order of their estimates; aggregated splits are ' +
      `always simulated (default: ${SIMULATED}).`,
  );
  flag(
    '--vary <options>',
    'Options to try in every split, with their values, as YAML or a file: ' +
      '{quantization: [none, fp8]}.',
  );
  flag(
    '--explain <split>',
    'Say why a split loses, by its name in the table: 4P4D, or "4P4D P:mbt2048". Without ' +
      'settings: with its best ones.',
  );
  flag(
    '--budget <time>',
    'Maximum time of the search, for example 2m; the result says what was cut short (default: no ' +
      'limit).',
  );
  flag('--threads <n>', 'Threads for simulation; no effect on the result (default: one per core).');
  flag(
    '--planners',
    'Simulate on the `baton up --role planner` processes of the same --redis, not on threads; no ' +
      'effect on the result. Run the same command again to continue after an interruption.',
  );
  flag('--json', 'Print the result as one JSON document.');
  flag('--wide', 'Print all columns of the tables, which may exceed 100 characters.');
  flag('--out <dir>', 'Write plan.json, plan.csv and plan.html to this folder.');
  addWorkloadOptions(command);
  addCostOptions(command);
  addConfigOptions(command);
  command.options.find(({ long }) => long === '--topology')?.hideHelp();
}

/** @throws UsageError, one sentence */
export function readPlanFlags(given: GivenReplayFlags): PlanFlags {
  const { workload, others } = splitWorkloadFlags(given);
  const { config, own } = partConfig(others);
  refuseIdle(config, workload);
  const text = (name: string): string | undefined => flagText(own[name]);
  const target = targetOf(own);
  const gpus = integerOf('--gpus', text('gpus'), MOST_GPUS);
  if (gpus === undefined)
    throw new UsageError('The number of GPUs is missing. Add it, for example --gpus 16.');
  return {
    config,
    configFile: text('config'),
    workload,
    gpus,
    target,
    sizes: sizesOf(own, config),
    prices: readCostFlags(own),
    vary: readVary(text('vary')),
    explain: text('explain'),
    budgetMs: budgetOf(text('budget')),
    mostSimulated: integerOf('--simulate', text('simulate'), MOST_SPLITS) ?? SIMULATED,
    ...outputOf(own),
  };
}

/** The flags of `baton plan --space`, grouped by their use. */
export interface FleetFlags extends FleetRequest {
  readonly config: GivenReplayFlags;
  readonly configFile: string | undefined;
  readonly planners: boolean;
  readonly json: boolean;
  readonly wide: boolean;
  readonly out: string | undefined;
}

/** Flags whose values the file of the space sets. */
const SPACE_SAYS = ['gpus', 'tp', 'prefillTp', 'decodeTp', 'simulate'] as const;

/**
 * Undefined: `--space` is not given.
 *
 * @throws UsageError, one sentence
 */
export function readFleetFlags(given: GivenReplayFlags): FleetFlags | undefined {
  const { workload, others } = splitWorkloadFlags(given);
  const { config, own } = partConfig(others);
  const space = flagText(own['space']);
  if (space === undefined) return undefined;
  refuseIdle(config, workload);
  if (own['explain'] !== undefined) {
    throw new UsageError('--explain is for the splits of --gpus. Remove it, or --space.');
  }
  const twice = SPACE_SAYS.find((name) => own[name] !== undefined);
  if (twice !== undefined) {
    throw new UsageError(`The file of --space sets ${flagName(twice)}. Remove the flag.`);
  }
  return {
    config,
    configFile: flagText(own['config']),
    workload,
    space,
    target: targetOf(own),
    prices: readCostFlags(own) ?? new Map(),
    ...outputOf(own),
  };
}

function targetOf(own: GivenReplayFlags): SloTarget {
  const slo = readSlo(flagText(own['slo']));
  if (slo === undefined) {
    throw new UsageError('The SLO is missing. Add it, for example --slo ttft=2s,tpot=50ms.');
  }
  const attainment = shareOf('--attainment', flagText(own['attainment'])) ?? ATTAINMENT;
  return { slo, attainment };
}

function outputOf(
  own: GivenReplayFlags,
): Pick<FleetFlags, 'threads' | 'planners' | 'json' | 'wide' | 'out'> {
  const threads = integerOf('--threads', flagText(own['threads']), MOST_THREADS);
  const planners = own['planners'] === true;
  return {
    // The workload is sent to planners unchanged, without shared memory.
    threads: planners ? 1 : (threads ?? availableParallelism()),
    planners,
    json: own['json'] === true,
    wide: own['wide'] === true,
    out: flagText(own['out']),
  };
}

/** Refuses flags for values that a plan searches. */
function refuseIdle(config: GivenReplayFlags, workload: WorkloadFlags): void {
  if (config['topology'] !== undefined) {
    throw new UsageError('A plan searches for the topology itself. Remove --topology.');
  }
  const idle: WorkloadFlag = 'rateScale';
  if (workload[idle] !== undefined) {
    throw new UsageError(
      `A plan searches for the highest rate itself. Remove ${flagNameOf(idle)}.`,
    );
  }
}

/** @throws UsageError */
function budgetOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const budgetMs = parseDuration(text, 'ms');
  if (/[a-z]$/.test(text) && budgetMs !== undefined && budgetMs >= 1_000) return budgetMs;
  throw new UsageError(`--budget must be a time of at least 1s, as 2m; '${text}' is not.`);
}

function sizesOf(own: GivenReplayFlags, config: GivenReplayFlags): GivenSizes {
  const sizes = (flag: string, key: string): number[] | undefined => {
    const list = flagText(own[keyOf(flag)]);
    const longKey = `${key}TensorParallelSize`.replace(/^T/, 't');
    if (list === undefined) return undefined;
    if (config[longKey] === undefined) return sizeList(`--${flag}`, list);
    throw new UsageError(`--${flag} and ${flagName(longKey)} are the same flag. Remove one.`);
  };
  return {
    tp: sizes('tp', ''),
    prefillTp: sizes('prefill-tp', 'prefill'),
    decodeTp: sizes('decode-tp', 'decode'),
  };
}

/** Reads `2,4,8`; the result is ascending and without duplicates. */
function sizeList(flag: string, list: string): number[] {
  const sizes = list.split(',').map((each) => {
    return /^\s*\d+\s*$/.test(each) ? Number(each) : NaN;
  });
  if (sizes.every((size) => size >= 1 && size <= MOST_SIZE)) {
    return [...new Set(sizes)].sort((a, b) => a - b);
  }
  throw new UsageError(
    `${flag} must be integers from 1 to ${MOST_SIZE}, as 2,4,8; '${list}' is not.`,
  );
}

function integerOf(flag: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new UsageError(`${flag} must be an integer from 1 to ${most}; '${text}' is not.`);
}

/** @throws UsageError */
export function shareOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
  if (value > 0 && value <= 1) return value;
  throw new UsageError(`${flag} must be a number above 0, up to 1; '${text}' is not.`);
}
