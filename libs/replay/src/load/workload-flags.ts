import { UsageError } from '@baton/config';
import { TRACE_FORMATS, type TraceFormat } from '@baton/workload';

/** Sources of requests. */
export const SOURCES = ['trace', 'random', 'shared-prefix', 'multi-turn', 'sharegpt'] as const;
export type SourceKind = (typeof SOURCES)[number];

export const ARRIVALS = ['trace', 'poisson', 'gamma', 'constant', 'ramp', 'spread'] as const;
export type ArrivalKind = (typeof ARRIVALS)[number];

const DATASETS = ['random', 'shared-prefix', 'multi-turn'] as const;

/** Datasets that are traces, of one format or of any. */
const TRACE_DATASETS: Readonly<Record<string, TraceFormat | undefined>> = {
  trace: undefined,
  recorded: 'baton',
  azure: 'azure',
  mooncake: 'mooncake',
  'timed-trace': 'mooncake',
  burstgpt: 'burstgpt',
};

/** The values of `--dataset`, generated ones first. */
export const DATASET_NAMES: readonly string[] = [
  ...DATASETS,
  'sharegpt',
  ...Object.keys(TRACE_DATASETS),
];

/**
 * A flag of the workload: its form, its help, and the sources that it applies to (default: all).
 */
export interface WorkloadFlagRow {
  readonly value: string;
  readonly help: string;
  readonly of?: readonly SourceKind[];
}

/** Names are those of `vllm bench serve` where it has them. */
export const WORKLOAD_FLAG_ROWS = {
  trace: {
    value: 'name|file',
    help: 'Requests of a trace: a shipped one (`list` shows them) or a file, also .gz.',
  },
  traceFormat: {
    value: 'format',
    help: `File format: ${TRACE_FORMATS.join(', ')} (default: detected from its first line).`,
    of: ['trace'],
  },
  traceBlockSize: {
    value: 'tokens',
    help: 'Tokens per hash id of a Mooncake file (default: 512).',
    of: ['trace'],
  },
  limit: {
    value: 'n',
    help: 'Read only the first n requests of the trace (default: all).',
    of: ['trace'],
  },
  dataset: {
    value: 'name',
    help:
      `Generated requests: ${DATASETS.join(', ')}; or those of a file: sharegpt, ` +
      `${Object.keys(TRACE_DATASETS).join(', ')}.`,
  },
  datasetFile: {
    value: 'file',
    help: 'The file of --dataset sharegpt, or the same as --trace (also --dataset-path).',
    of: ['sharegpt'],
  },
  sharegptOutputLen: {
    value: 'tokens',
    help: 'Output length in tokens (default: that of the answer in the file).',
    of: ['sharegpt'],
  },
  numPrompts: {
    value: 'n',
    help: 'Number of requests (default: all of a trace, 1000 of a dataset).',
  },
  duration: {
    value: 's',
    help: 'Use only requests that arrive within this time, in seconds (default: all).',
  },
  sloMix: {
    value: 'shares',
    help: 'SLO classes of the requests, for example chat=0.7,batch=0.3 (default: their own).',
  },
  tenantMix: {
    value: 'shares',
    help: 'Tenants of the requests, for example alice=0.9,bob=0.1 (default: their own).',
  },
  adapterMix: {
    value: 'shares',
    help:
      'LoRA adapters of the requests, for example sql=0.4,chat=0.3,base=0.3; base is the model ' +
      'without an adapter (default: their own).',
  },
  arrivals: {
    value: 'process',
    help:
      `Arrivals of requests: ${ARRIVALS.join(', ')} (default: as in the trace; gamma with ` +
      '--request-rate). spread distributes requests with equal stamps.',
  },
  requestRate: {
    value: 'per-second',
    help:
      'Mean rate; inf sends all at once (default: that of the trace, inf for a dataset). ' +
      'Conversations per second for multi-turn.',
  },
  rateScale: { value: 'x', help: 'Multiply the rate of arrivals by x (default: 1).' },
  burstiness: {
    value: 'x',
    help: 'Gamma shape of the gaps: 1 is Poisson, below 1 burstier, inf constant (default: 1).',
  },
  rampUpStrategy: {
    value: 'name',
    help: 'linear or exponential, from --ramp-up-start-rps to --ramp-up-end-rps over the requests.',
  },
  rampUpStartRps: {
    value: 'per-second',
    help: 'Rate at the first request of a ramp (default: no ramp).',
  },
  rampUpEndRps: {
    value: 'per-second',
    help: 'Rate at the last request of a ramp (default: no ramp).',
  },
  randomInputLen: {
    value: 'tokens',
    help: 'Prompt length in tokens; for multi-turn, the length of each message (default: 1024).',
    of: ['random', 'shared-prefix', 'multi-turn', 'trace'],
  },
  randomOutputLen: {
    value: 'tokens',
    help: 'Output length in tokens (default: 128).',
    of: ['random', 'shared-prefix', 'multi-turn', 'trace'],
  },
  randomRangeRatio: {
    value: 'r',
    help: 'Lengths are uniform within length · (1 - r) and length · (1 + r) (default: 0).',
    of: ['random', 'shared-prefix', 'multi-turn', 'trace'],
  },
  lengthSigma: {
    value: 'x',
    help: 'Draw lengths from a lognormal with these means and this sigma (default: exact).',
    of: ['random', 'shared-prefix', 'multi-turn', 'trace'],
  },
  randomPrefixLen: {
    value: 'tokens',
    help: 'Number of equal tokens at the start of all prompts, added to their length (default: 0).',
    of: ['random', 'multi-turn', 'trace'],
  },
  prefixRepetitionNumPrefixes: {
    value: 'n',
    help: 'Number of different prefixes (default: 10).',
    of: ['shared-prefix'],
  },
  prefixRepetitionPrefixLen: {
    value: 'tokens',
    help: 'Length of the prefixes in tokens (default: 256).',
    of: ['shared-prefix'],
  },
  prefixRepetitionSuffixLen: {
    value: 'tokens',
    help: 'Length of a prompt after its prefix; the same as --random-input-len (default: 256).',
    of: ['shared-prefix'],
  },
  prefixRepetitionOutputLen: {
    value: 'tokens',
    help: 'Output length in tokens; the same as --random-output-len (default: 128).',
    of: ['shared-prefix'],
  },
  prefixShare: {
    value: 'share',
    help: 'Shared part of each prompt, 0 to 1, not a prefix of fixed length (default: none).',
    of: ['shared-prefix'],
  },
  prefixZipf: {
    value: 's',
    help: 'Use prefix k with a frequency proportional to 1 / k^s (default: all equally).',
    of: ['shared-prefix'],
  },
  multiTurnTurns: {
    value: 'n|n-m',
    help: 'Turns per conversation, or a range (default: 4).',
    of: ['multi-turn'],
  },
  multiTurnThinkTime: {
    value: 's',
    help: 'Mean pause between an answer and the next turn, in seconds (default: 10).',
    of: ['multi-turn'],
  },
} as const satisfies Record<string, WorkloadFlagRow>;

export type WorkloadFlag = keyof typeof WORKLOAD_FLAG_ROWS;

/** Flags of lengths. On a trace, they apply to the format access. */
export const LENGTH_FLAGS = [
  ...(['randomInputLen', 'randomOutputLen', 'randomRangeRatio'] as const),
  ...(['lengthSigma', 'randomPrefixLen'] as const),
] as const satisfies readonly WorkloadFlag[];

export const WORKLOAD_FLAGS = Object.keys(WORKLOAD_FLAG_ROWS) as readonly WorkloadFlag[];

/** The given values, by option name. */
export type WorkloadFlags = Readonly<Partial<Record<WorkloadFlag, string>>>;

/** Other spellings of flags, for users of other tools. */
export const WORKLOAD_FLAG_ALIASES: Readonly<Record<string, WorkloadFlag>> = {
  datasetName: 'dataset',
  datasetPath: 'datasetFile',
};

/** The flag of an option name: `--num-prompts` for `numPrompts`. */
export function flagNameOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Splits the flags of a command into those of the workload and all others (options of the
 * configuration, or the command's own).
 */
export function splitWorkloadFlags<T>(flags: Readonly<Record<string, T>>): {
  readonly workload: WorkloadFlags;
  readonly others: Record<string, T>;
} {
  const workload: Record<string, string> = {};
  const others: Record<string, T> = {};
  for (const [given, value] of Object.entries(flags)) {
    const name = WORKLOAD_FLAG_ALIASES[given] ?? given;
    if (name in WORKLOAD_FLAG_ROWS) {
      if (name in workload) throw sameFlag(name);
      workload[name] = String(value);
    } else others[given] = value;
  }
  return { workload: withTraceNamed(workload), others };
}

function sameFlag(name: string): UsageError {
  const names = [name, ...Object.keys(WORKLOAD_FLAG_ALIASES)].filter(
    (each) => each === name || WORKLOAD_FLAG_ALIASES[each] === name,
  );
  return new UsageError(`${names.map(flagNameOf).join(' and ')} are the same flag. Remove one.`);
}

/**
 * Turns `--dataset mooncake --dataset-file F`, the form of other tools, into `--trace F
 * --trace-format mooncake`.
 */
function withTraceNamed(flags: WorkloadFlags): WorkloadFlags {
  const { dataset, datasetFile, ...rest } = flags;
  const name = dataset?.replaceAll('_', '-').toLowerCase() ?? '';
  if (!(name in TRACE_DATASETS)) return flags;
  if (flags.trace !== undefined && datasetFile !== undefined) {
    throw new UsageError('--trace and --dataset-file set the same file. Remove one.');
  }
  const trace = flags.trace ?? datasetFile;
  if (trace === undefined) throw new UsageError(`--dataset ${name} needs --dataset-file FILE.`);
  const format = TRACE_DATASETS[name];
  return { ...rest, trace, ...(format === undefined ? {} : { traceFormat: format }) };
}

/** True when a flag applies to a source. */
export function belongsTo(name: WorkloadFlag, source: SourceKind): boolean {
  const { of }: WorkloadFlagRow = WORKLOAD_FLAG_ROWS[name];
  return of === undefined || of.includes(source);
}
