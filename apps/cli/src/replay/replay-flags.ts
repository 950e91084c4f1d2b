import { tmpdir } from 'node:os';
import { parseSlo, type Slo, SloError } from '@baton/analysis';
import type { GivenRates } from '@baton/planner';
import { isConfigKey, keyOf, UsageError } from '@baton/config';
import { type Micros, msToUs, parseDuration } from '@baton/kernel';
import { type ReplayRequest, splitWorkloadFlags } from '@baton/replay';
import { type Command, Option } from 'commander';
import { addCostOptions, readCostFlags } from '../cost-options';
import { addConfigOptions } from '../options';
import { addWorkloadOptions } from '../workload-options';

type FlagValue = string | boolean;
export type GivenReplayFlags = Readonly<Record<string, FlagValue>>;

/** The flags of `baton replay`, grouped by their use. */
export interface ReplayFlags extends ReplayRequest {
  /** Undefined: no cost is reported. */
  readonly prices: GivenRates | undefined;
  readonly json: boolean;
  /** Folder for files. */
  readonly out: string | undefined;
  /**
   * A policy whose choices are compared with the recorded ones. Undefined without a shadow policy.
   */
  readonly shadow: string | undefined;
  /** Time between two reports of --shadow while the trace grows. Undefined: one report. */
  readonly followMs: number | undefined;
  readonly perfetto: boolean;
  readonly svg: boolean;
  readonly page: boolean;
  /** Folder for the part of the log that need not be in memory. Undefined: all is in memory. */
  readonly spill: string | undefined;
  /** File for the prefix caches at the end. Undefined: they are not written. */
  readonly saveCache: string | undefined;
}

const MOST_CONCURRENCY = 1_000_000_000;
const MOST_FOLLOW_SECONDS = 86_400;
const MS_PER_SECOND = 1_000;

export function addReplayOptions(command: Command): void {
  const flag = (text: string, help: string): void => {
    command.addOption(new Option(text, help).helpGroup('Replay:'));
  };
  addWorkloadOptions(command);
  flag('--tp <n>', 'Short for --tensor-parallel-size.');
  flag(
    '--concurrency <n>',
    'Closed loop: maximum number of requests that clients have under way (default: no limit).',
  );
  flag(
    '--think-time <time>',
    'With --concurrency: mean pause of a client between an answer and its next request, for ' +
      'example 5ms; exponential, drawn from the seed (default: no pause).',
  );
  flag(
    '--slo <bounds>',
    'Latency targets of each request: ttft, tpot, itl or e2el, as in ttft=2s,tpot=50ms.',
  );
  flag(
    '--shadow <policy>',
    'Send requests to the engines in a recording or the log of a router, and report the choices ' +
      'that this policy would make (docs/policies.md).',
  );
  flag(
    '--follow <seconds>',
    'With --shadow: report again at this interval while the trace grows, until Ctrl-C.',
  );
  flag('--compare', 'Compare with the measurements in the trace (default: if it is a recording).');
  flag('--no-compare', 'Do not compare with the measurements in the trace.');
  flag('--json', 'Print the result as one JSON document.');
  flag('--out <dir>', 'Write summary.json, requests.csv and report.html to this folder.');
  flag('--perfetto', 'Also write trace.json for ui.perfetto.dev (needs --out).');
  flag('--svg', 'Also write each chart of the report as an SVG image (needs --out).');
  flag('--page', 'Also write page.html, the live page of the run with a player (needs --out).');
  flag(
    '--spill [dir]',
    'For many millions of requests: keep the log in a temporary file in this folder (default: the ' +
      "system's), not in memory. Percentiles of latencies are then at most 0.4 % off.",
  );
  flag('--save-cache <file>', 'Write the prefix caches at the end of the run to this file.');
  flag('--no-leap', 'Simulate every decode step separately: slower, with the same result.');
  addCostOptions(command);
  addConfigOptions(command);
}

/** @throws UsageError, one sentence */
export function readReplayFlags(given: GivenReplayFlags): ReplayFlags {
  const { workload, others } = splitWorkloadFlags(given);
  const { config: options, own } = partConfig(others);
  const shadow = flagText(own['shadow']);
  const { warmStart, config: requested } = withoutCaches(options);
  const { asPlaced, config } = withoutRecorded(withShadow(requested, shadow));
  const out = flagText(own['out']);
  const followMs = readFollow(flagText(own['follow']), shadow);
  const concurrency = readConcurrency(flagText(own['concurrency']));
  for (const name of ['perfetto', 'svg', 'page']) {
    if (own[name] === true && out === undefined) {
      throw new UsageError(`--${name} writes a file. Add --out DIR.`);
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
    followMs,
    isGrowing: followMs !== undefined,
    compare: followMs !== undefined ? false : flagToggle(own['compare']),
    json: own['json'] === true,
    out,
    perfetto: own['perfetto'] === true,
    svg: own['svg'] === true,
    page: own['page'] === true,
    spill: readSpill(own['spill'], followMs),
    saveCache: flagText(own['saveCache']),
    warmStart,
  };
}

function readFollow(given: string | undefined, shadow: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (shadow === undefined) throw new UsageError('--follow needs --shadow.');
  const seconds = Number(given);
  if (seconds > 0 && seconds <= MOST_FOLLOW_SECONDS) return seconds * MS_PER_SECOND;
  throw new UsageError(
    `--follow must be seconds above 0, up to ${MOST_FOLLOW_SECONDS}; '${given}' is not.`,
  );
}

function readSpill(given: FlagValue | undefined, followMs: number | undefined): string | undefined {
  if (given === undefined || given === false) return undefined;
  if (followMs === undefined) return given === true ? tmpdir() : given;
  throw new UsageError('--follow keeps its log in memory. Remove --spill.');
}

function flagToggle(given: FlagValue | undefined): boolean | undefined {
  return typeof given === 'boolean' ? given : undefined;
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

/**
 * The configuration with the shadow policy as its placement; the recorded placement takes
 * precedence.
 */
function withShadow(config: GivenReplayFlags, shadow: string | undefined): GivenReplayFlags {
  if (shadow === undefined) return config;
  if (shadow === 'pull' || shadow === 'recorded') {
    throw new UsageError(`--shadow needs a policy that chooses engines, and ${shadow} does not.`);
  }
  if (config['placement'] === undefined) return { ...config, placement: shadow };
  throw new UsageError('--shadow and --placement exclude each other. Remove one.');
}

/** `--placement recorded` is not a value of the configuration, so it is removed. */
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
    throw new UsageError('--tp and --tensor-parallel-size are the same flag. Remove one.');
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

/** Longest pause, in ms: one hour. */
const MOST_THINK_MS = 3_600_000;

function readThinkTime(
  text: string | undefined,
  concurrency: number | undefined,
): Micros | undefined {
  if (text === undefined) return undefined;
  if (concurrency === undefined) {
    throw new UsageError('--think-time needs a closed loop. Add --concurrency.');
  }
  const ms = parseDuration(text, 'ms');
  if (ms !== undefined && ms > 0 && ms <= MOST_THINK_MS) return msToUs(ms);
  throw new UsageError(`--think-time must be a time up to 1h, such as 5ms; '${text}' is not.`);
}

export function flagText(value: FlagValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
