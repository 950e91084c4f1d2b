import { type Objective, OBJECTIVES, type Slo } from '@baton/analysis';
import { UsageError } from '@baton/config';
import { msToUs } from '@baton/kernel';
import type { ServerAccess } from '@baton/loadgen';
import {
  checkSource,
  flagNameOf,
  FlagValues,
  splitWorkloadFlags,
  type WorkloadFlags,
} from '@baton/replay';
import { type Command, Option } from 'commander';
import { readSlo } from '../replay/replay-flags';
import { addWorkloadOptions } from '../workload-options';
import { BENCH_ROWS, type BenchFlag } from './bench-options';
import { pairOf } from './name-value';
import { readServerFlags } from './server-flags';
import { type ClassSlos, readClassSlos } from './slo-classes';

/** The flags as parsed by commander. */
export type Given = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The flags of `baton bench`, grouped by their use. */
export interface BenchFlags {
  readonly workload: WorkloadFlags;
  readonly server: ServerAccess;
  readonly maxConcurrency: number | undefined;
  readonly numWarmups: number;
  /** Undefined: the default of the workload's source. */
  readonly ignoreEos: boolean | undefined;
  readonly seed: number;
  readonly deadlineMs: number;
  readonly requestIdPrefix: string | undefined;
  readonly slo: Slo | undefined;
  readonly classSlos: ClassSlos;
  readonly metrics: readonly Objective[];
  readonly percentiles: readonly number[];
  readonly result: ResultFlags;
}

/** Destinations of the result. */
export interface ResultFlags {
  readonly json: boolean;
  readonly out: string | undefined;
  readonly saveResult: boolean;
  readonly saveDetailed: boolean;
  readonly resultDir: string;
  readonly resultFilename: string | undefined;
  readonly label: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly hasBar: boolean;
}

const MOST_CONCURRENCY = 1_000_000;
const DEADLINE_S = 600;
const MS_PER_SECOND = 1_000;

export function addBenchOptions(command: Command): void {
  addOptions(command, BENCH_ROWS);
}

/** The flags that do not choose the server. */
export function addLoadOptions(command: Command): void {
  const rows = BENCH_ROWS.filter(([name, { group }]) => {
    return group !== 'Server' || name === 'backend' || name === 'extraBody';
  });
  addOptions(command, rows);
}

function addOptions(command: Command, rows: typeof BENCH_ROWS): void {
  for (const [name, { value, help, group }] of rows) {
    const flag = flagNameOf(name) + (value === undefined ? '' : ` <${value}>`);
    command.addOption(new Option(flag, help).helpGroup(`${group}:`));
  }
  addWorkloadOptions(command);
}

/** @throws UsageError, one sentence */
export function readBenchFlags(given: Given): BenchFlags {
  const { workload, others } = splitWorkloadFlags(given);
  checkSource(workload);
  const lists = (name: BenchFlag): readonly string[] => {
    const value = others[name];
    return Array.isArray(value) ? (value as string[]) : [];
  };
  const texts = Object.entries(others).filter(([, value]) => typeof value === 'string');
  const values = new FlagValues<BenchFlag>(Object.fromEntries(texts) as Record<string, string>);
  const isOn = (name: BenchFlag): boolean => others[name] === true;
  const ignoreEos = others['ignoreEos'];
  return {
    workload,
    server: readServerFlags(values, lists('header')),
    maxConcurrency: values.count('maxConcurrency', 1, MOST_CONCURRENCY),
    numWarmups: values.count('numWarmups', 0, MOST_CONCURRENCY) ?? 0,
    ignoreEos: typeof ignoreEos === 'boolean' ? ignoreEos : undefined,
    seed: values.count('seed', 0) ?? 0,
    deadlineMs: deadlineOf(values),
    requestIdPrefix: values.text('requestIdPrefix'),
    slo: readTargets(values.text('slo'), lists('goodput')),
    classSlos: readClassSlos(lists('sloClass')),
    metrics: readMetrics(values),
    percentiles: readPercentiles(values),
    result: readResultFlags(values, isOn, lists('metadata')),
  };
}

function deadlineOf(values: FlagValues<BenchFlag>): number {
  const seconds = values.number('requestTimeout', {
    from: 0.001,
    to: 1e6,
    expected: 'a number of seconds from 0.001 to 1000000',
  });
  return (seconds ?? DEADLINE_S) * MS_PER_SECOND;
}

function readResultFlags(
  values: FlagValues<BenchFlag>,
  isOn: (name: BenchFlag) => boolean,
  metadata: readonly string[],
): ResultFlags {
  const fileFlag = (['resultDir', 'resultFilename'] as const).find((name) => values.has(name));
  if (fileFlag !== undefined && !isOn('saveResult')) {
    throw new UsageError(`${flagNameOf(fileFlag)} needs --save-result.`);
  }
  return {
    json: isOn('json'),
    out: values.text('out'),
    saveResult: isOn('saveResult'),
    saveDetailed: isOn('saveDetailed'),
    resultDir: values.text('resultDir') ?? '.',
    resultFilename: values.text('resultFilename'),
    label: values.text('label'),
    metadata: Object.fromEntries(metadata.map((entry) => pairOf('metadata', entry))),
    hasBar: !isOn('disableTqdm'),
  };
}

function readTargets(slo: string | undefined, goodput: readonly string[]): Slo | undefined {
  if (slo !== undefined && goodput.length > 0) {
    throw new UsageError('--slo and --goodput both name latency targets. Remove one.');
  }
  return readSlo(slo) ?? readGoodput(goodput);
}

/** `ttft:200 tpot:50`, in ms. */
function readGoodput(pairs: readonly string[]): Slo | undefined {
  const slo: Partial<Record<Objective, number>> = {};
  for (const pair of pairs) {
    const [, name, digits] = /^([a-z0-9]+):(\d+(?:\.\d+)?)$/.exec(pair) ?? [];
    const objective = OBJECTIVES.find((each) => each === name);
    const boundUs = Math.round(msToUs(Number(digits)));
    if (objective === undefined || !(boundUs >= 1)) {
      throw new UsageError(
        `--goodput takes ${OBJECTIVES.join(', ')} with ms above 0, for example ttft:500 ` +
          `tpot:50; '${pair}' is not.`,
      );
    }
    slo[objective] = boundUs;
  }
  return pairs.length === 0 ? undefined : slo;
}

function readMetrics(values: FlagValues<BenchFlag>): readonly Objective[] {
  const text = values.text('percentileMetrics');
  if (text === undefined) return OBJECTIVES;
  return text.split(',').map((part) => {
    const metric = OBJECTIVES.find((each) => each === part.trim());
    if (metric !== undefined) return metric;
    throw values.wrongValue('percentileMetrics', `a list of ${OBJECTIVES.join(', ')}`);
  });
}

function readPercentiles(values: FlagValues<BenchFlag>): readonly number[] {
  const text = values.text('metricPercentiles') ?? '99';
  return text.split(',').map((part) => {
    const percentile = part.trim() === '' ? NaN : Number(part);
    if (percentile >= 0 && percentile <= 100) return percentile;
    throw values.wrongValue('metricPercentiles', 'a list of numbers from 0 to 100');
  });
}
