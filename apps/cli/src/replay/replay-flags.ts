import { parseSlo, type Slo, SloError } from '@baton/analysis';
import type { GivenRates } from '@baton/costs';
import { isConfigKey, keyOf, UsageError } from '@baton/config';
import { type Micros, msToUs, parseDuration } from '@baton/kernel';
import type { ReplayRequest } from '@baton/replay';
import { splitWorkloadFlags } from '@baton/workload-source';
import { type Command, Option } from 'commander';
import { addCostOptions, readCostFlags } from '../cost-options';
import { addConfigOptions } from '../options';
import { addWorkloadOptions } from '../workload-options';

type FlagValue = string | boolean;
export type GivenReplayFlags = Readonly<Record<string, FlagValue>>;

/** The flags of `baton replay`, by the part that reads them. */
export interface ReplayFlags extends ReplayRequest {
  /** Undefined: no cost is reported. */
  readonly prices: GivenRates | undefined;
  readonly json: boolean;
  /** Folder for files. */
  readonly out: string | undefined;
  /** A policy whose choices are compared with the recorded ones, if any. */
  readonly shadow: string | undefined;
  readonly perfetto: boolean;
  readonly svg: boolean;
  readonly page: boolean;
  /** File for the prefix caches at the end; undefined: they are not kept. */
  readonly saveCache: string | undefined;
}

const MOST_CONCURRENCY = 1_000_000_000;

export function addReplayOptions(command: Command): void {
  const flag = (text: string, help: string): void => {
    command.addOption(new Option(text, help).helpGroup('Replay:'));
  };
  addWorkloadOptions(command);
  flag('--tp <n>', 'Short for --tensor-parallel-size.');
  flag(
    '--concurrency <n>',
    'Requests that clients have under way at most: a closed loop (default: no bound).',
  );
  flag(
    '--think-time <time>',
    'With --concurrency: mean pause of a client between an answer and its next request, for ' +
      'example 5ms; drawn from the seed, exponential (default: no pause).',
  );
  flag(
    '--slo <bounds>',
    'Objectives of each request, for example ttft=2s,tpot=50ms; also itl and e2el.',
  );
  flag(
    '--shadow <policy>',
    'Send requests where a recording or the log of a router says, and tell what this policy ' +
      'would have done (docs/policies.md).',
  );
  flag('--compare', 'Compare with what a trace says was measured (default: with a recording).');
  flag('--no-compare', 'Do not compare.');
  flag('--json', 'Print the result as one JSON document.');
  flag('--out <dir>', 'Write summary.json, requests.csv and report.html into this folder.');
  flag('--perfetto', 'Write trace.json for ui.perfetto.dev too (needs --out).');
  flag('--svg', 'Write each chart of the report as a picture too (needs --out).');
  flag('--page', 'Write page.html too: the live page of the run, with a player (needs --out).');
  flag('--save-cache <file>', 'Keep what the prefix caches hold at the end in this file.');
  flag('--no-leap', 'Take every decode step by itself: the same result, later.');
  addCostOptions(command);
  addConfigOptions(command);
}

/** @throws UsageError, one sentence */
export function readReplayFlags(given: GivenReplayFlags): ReplayFlags {
  const { workload, others } = splitWorkloadFlags(given);
  const { config: options, own } = partConfig(others);
  const shadow = flagText(own['shadow']);
  const { warmStart, config: asked } = withoutCaches(options);
  const { asPlaced, config } = withoutRecorded(withShadow(asked, shadow));
  const out = flagText(own['out']);
  const concurrency = readConcurrency(flagText(own['concurrency']));
  for (const name of ['perfetto', 'svg', 'page']) {
    if (own[name] === true && out === undefined) {
      throw new UsageError(`--${name} needs --out DIR: it is a file.`);
    }
  }
  return {
    config: withShortNames(config, own),
    configFile: flagText(own['config']),
    workload,
    slo: readSlo(flagText(own['slo'])),
    prices: readCostFlags(own),
    concurrency,
    thinkUs: readThinkTime(flagText(own['thinkTime']), concurrency),
    leap: own['leap'] !== false,
    asPlaced: asPlaced || shadow !== undefined,
    shadow,
    compare: typeof own['compare'] === 'boolean' ? own['compare'] : undefined,
    json: own['json'] === true,
    out,
    perfetto: own['perfetto'] === true,
    svg: own['svg'] === true,
    page: own['page'] === true,
    saveCache: flagText(own['saveCache']),
    warmStart,
  };
}

/** Separates the options of the configuration from a command's own flags. */
export function partConfig(flags: GivenReplayFlags): {
  config: GivenReplayFlags;
  own: GivenReplayFlags;
} {
  const isConfig = ([name]: [string, FlagValue]): boolean => isConfigKey(keyOf(name));
  const entries = Object.entries(flags);
  return {
    config: Object.fromEntries(entries.filter(isConfig)),
    own: Object.fromEntries(entries.filter((entry) => !isConfig(entry))),
  };
}

/** The policy is configured as if it placed; the recorded placement goes before it. */
function withShadow(config: GivenReplayFlags, shadow: string | undefined): GivenReplayFlags {
  if (shadow === undefined) return config;
  if (shadow === 'pull' || shadow === 'recorded') {
    throw new UsageError(`--shadow needs a policy that chooses engines, and ${shadow} does not.`);
  }
  if (config['placement'] === undefined) return { ...config, placement: shadow };
  throw new UsageError('--shadow takes the place of --placement: give one of them.');
}

/** The placement of another run is no value of the configuration. */
function withoutRecorded({ placement, ...config }: GivenReplayFlags): {
  asPlaced: boolean;
  config: GivenReplayFlags;
} {
  const asPlaced = placement === 'recorded';
  return {
    asPlaced,
    config: asPlaced || placement === undefined ? config : { ...config, placement },
  };
}

/** The caches of another run are no value of the configuration. */
function withoutCaches({ warmStart, ...config }: GivenReplayFlags): {
  warmStart: string | undefined;
  config: GivenReplayFlags;
} {
  if (warmStart === undefined) return { warmStart, config };
  return warmStart === 'peer'
    ? { warmStart: undefined, config: { ...config, warmStart } }
    : { warmStart: String(warmStart), config };
}

function withShortNames(config: GivenReplayFlags, { tp }: GivenReplayFlags): GivenReplayFlags {
  if (tp === undefined) return config;
  if (config['tensorParallelSize'] !== undefined) {
    throw new UsageError('--tp and --tensor-parallel-size are the same: give one.');
  }
  return { ...config, tensorParallelSize: tp };
}

/** @throws UsageError */
export function readSlo(text: string | undefined): Slo | undefined {
  if (text === undefined) return undefined;
  try {
    return parseSlo(text);
  } catch (error) {
    if (error instanceof SloError) throw new UsageError(`--slo: ${error.message}`);
    throw error;
  }
}

function readConcurrency(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST_CONCURRENCY) return count;
  throw new UsageError(
    `--concurrency must be an integer from 1 to ${MOST_CONCURRENCY}; '${text}' is not.`,
  );
}

/** An hour is more than any client waits. */
const MOST_THINK_MS = 3_600_000;

function readThinkTime(
  text: string | undefined,
  concurrency: number | undefined,
): Micros | undefined {
  if (text === undefined) return undefined;
  if (concurrency === undefined) {
    throw new UsageError('--think-time needs --concurrency: it is a pause of those clients.');
  }
  const ms = parseDuration(text, 'ms');
  if (ms !== undefined && ms > 0 && ms <= MOST_THINK_MS) return msToUs(ms);
  throw new UsageError(`--think-time must be a time up to 1h, such as 5ms; '${text}' is not.`);
}

export function flagText(value: FlagValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
