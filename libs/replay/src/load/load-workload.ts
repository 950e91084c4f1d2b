import { existsSync } from 'node:fs';
import { fileName, UsageError } from '@baton/config';
import { nearestName, secondsToUs } from '@baton/kernel';
import type { WrittenWorkload } from '@baton/loadgen';
import {
  drawArrivals,
  firstCount,
  head,
  meanRatePerSecond,
  mostAtOneInstant,
  openAnyTrace,
  openTrace,
  scaleRate,
  spreadStamps,
  type Trace,
  TRACE_FORMATS,
  TraceError,
  type TraceFormat,
  type TraceReport,
  withAdapterContents,
  withArrivals,
  withContentBlock,
  withMix,
  within,
  type Workload,
  WorkloadBuilder,
  WorkloadError,
  workloadStream,
} from '@baton/workload';
import { type ArrivalPlan, arrivalsOfTrace } from './arrival-flags';
import {
  assumedLengths,
  datasetArrivals,
  type DatasetContext,
  type DatasetKind,
  generateDataset,
  withAssumedLengths,
} from './dataset';
import { isExchangeFile, readExchanges } from './files/exchanges';
import { readLines } from './files/file-lines';
import { FlagValues } from './flag-values';
import { checkShareGptFile, loadShareGpt } from './files/sharegpt';
import { SHIPPED_TRACES, shippedTracePath, shippedTracesText } from './files/shipped-traces';
import {
  belongsTo,
  flagNameOf,
  LENGTH_FLAGS,
  type SourceKind,
  SOURCES,
  WORKLOAD_FLAGS,
  type WorkloadFlag,
  type WorkloadFlags,
} from './workload-flags';

/** Number of requests at one instant from which a note mentions the trace's coarse clock. */
const COARSE = 4;

export interface WorkloadContext extends Partial<DatasetContext> {
  readonly seed: number;
  /** Tokens per KV block. Contents come in blocks of this size. */
  readonly blockSize: number;
  /** True: a trace with larger blocks keeps them. */
  readonly mayCoarsen?: boolean;
  /** True: another process writes to the trace, and its last line may be incomplete. */
  readonly isGrowing?: boolean;
  /** While a file is read: bytes so far and in total (0: unknown). */
  onProgress?(doneBytes: number, totalBytes: number): void;
}

export interface LoadedWorkload extends WrittenWorkload {
  readonly source:
    | { readonly kind: 'trace'; readonly name: string; readonly format: TraceFormat }
    | { readonly kind: 'dataset'; readonly name: DatasetKind | 'sharegpt' };
  /** Corrections by the reader of a trace. */
  readonly report: TraceReport | undefined;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

/** The workload in words, as requested, with the number of its requests. */
export function shownWorkload(
  { source, workload }: LoadedWorkload,
  flags: WorkloadFlags,
): Record<string, unknown> {
  const requested = Object.entries(flags).map(([name, value]) => [fileName(name), value]);
  return {
    source: source.kind === 'trace' ? source.format : source.name,
    ...Object.fromEntries(requested),
    requests: workload.count,
  };
}

/** True for `--trace list`: the command prints `shippedTracesText()` and ends. */
export function wantsTraceList(flags: WorkloadFlags): boolean {
  return flags.trace === 'list';
}

/**
 * Checks the source of the requests and the values of their flags, before a server is started or
 * asked for them. It reads no file, so it does not see what only the file decides.
 *
 * @throws UsageError
 */
export function checkSource(flags: WorkloadFlags): void {
  const source = sourceOf(flags);
  if (wantsTraceList(flags)) return;
  if (source === 'trace') pathOfTrace(flags.trace!);
  if (source === 'sharegpt') checkShareGptFile(flags.datasetFile);
  checkValues(source, new FlagValues(flags));
}

/** Reads all values as `loadWorkload` does, for no requests. */
function checkValues(source: SourceKind, values: FlagValues): void {
  const nothing = { seed: 0, blockSize: 1, maxModelLen: Infinity, most: 0 };
  try {
    values.positive('rateScale');
    values.seconds('duration');
    if (source === 'trace') {
      const none = new WorkloadBuilder().build();
      traceValues(values);
      withAssumedLengths(none, values, nothing);
      arrivalsOfTrace(values, none);
    } else if (source === 'sharegpt') {
      values.count('sharegptOutputLen');
      datasetArrivals(values, nothing.seed, nothing.most);
    } else generateDataset(source, values, nothing);
    for (const flag of Object.keys(MIXES) as (keyof typeof MIXES)[]) values.shares(flag);
  } catch (error) {
    throw asUsageError(error);
  }
}

/**
 * The requests of the flags.
 *
 * @throws UsageError, one sentence; for a malformed line `file:line: reason`
 */
export async function loadWorkload(
  flags: WorkloadFlags,
  context: WorkloadContext,
): Promise<LoadedWorkload> {
  const kind = sourceOf(flags);
  const values = new FlagValues(flags);
  const scale = values.positive('rateScale') ?? 1;
  try {
    const loaded = await loadSource(kind, values, context);
    const scaled = scaleRate(loaded.workload, scale);
    const durationS = values.seconds('duration');
    const limited = durationS === undefined ? scaled : within(scaled, secondsToUs(durationS));
    const workload = withContentBlock(limited, blockTokensOf(limited, context));
    if (workload.count === 0 && context.isGrowing !== true) throw noRequests(flags, loaded);
    return { ...loaded, workload: withNames(workload, values, context.seed) };
  } catch (error) {
    throw asUsageError(error);
  }
}

function asUsageError(error: unknown): Error {
  if (error instanceof TraceError || error instanceof WorkloadError) {
    return new UsageError(error.message);
  }
  return error as Error;
}

function noRequests(flags: WorkloadFlags, { source, workload }: LoadedWorkload): UsageError {
  const zero = (['limit', 'numPrompts'] as const).find((name) => Number(flags[name] ?? 1) === 0);
  if (zero !== undefined) return new UsageError(`${flagNameOf(zero)} 0 leaves no request.`);
  if (workload.count > 0) {
    return new UsageError(`No request arrives within --duration ${flags.duration}.`);
  }
  return new UsageError(`${source.name} has no requests.`);
}

const MIXES = { sloMix: 'sloClass', tenantMix: 'tenant', adapterMix: 'adapter' } as const;

/** The workload with the SLO classes, tenants and adapters that the flags draw. */
function withNames(workload: Workload, values: FlagValues, seed: number): Workload {
  const mixed = (given: Workload, flag: keyof typeof MIXES): Workload => {
    const shares = values.shares(flag);
    const random = workloadStream(seed, flag);
    return shares ? withMix(given, MIXES[flag], { shares, random }) : given;
  };
  const named = mixed(mixed(workload, 'sloMix'), 'tenantMix');
  const withAdapters = mixed(named, 'adapterMix');
  return withAdapters === named ? named : withAdapterContents(withAdapters);
}

async function loadSource(
  kind: SourceKind,
  values: FlagValues,
  context: WorkloadContext,
): Promise<LoadedWorkload> {
  switch (kind) {
    case 'trace':
      return loadTrace(values, context);
    case 'sharegpt':
      return datasetOf(kind, values, await loadShareGpt(values, context));
    default:
      return loadDataset(kind, values, context);
  }
}

/** Blocks finer than those of the contents give no more cache hits, and cost time and memory. */
function blockTokensOf(workload: Workload, { blockSize, mayCoarsen }: WorkloadContext): number {
  const isNamed = workload.contentIds.length > 0;
  return mayCoarsen && isNamed ? Math.max(blockSize, workload.contentBlockTokens) : blockSize;
}

/** The source of the requests. Refuses flags without effect on it. */
function sourceOf(flags: WorkloadFlags): SourceKind {
  const dataset = new FlagValues(flags).choice('dataset', [...SOURCES, 'prefix-repetition']);
  const kind = dataset === 'prefix-repetition' ? 'shared-prefix' : dataset;
  if (flags.trace !== undefined && kind !== undefined && kind !== 'trace') {
    throw new UsageError('--trace and --dataset exclude each other.');
  }
  const source = flags.trace === undefined ? kind : 'trace';
  if (source === undefined || (source === 'trace' && flags.trace === undefined)) {
    throw new UsageError(
      'The workload is missing. Add --trace NAME|FILE, or --dataset random, shared-prefix, ' +
        'multi-turn or sharegpt.',
    );
  }
  const idle = WORKLOAD_FLAGS.find((name) => flags[name] !== undefined && !belongsTo(name, source));
  if (idle !== undefined) {
    const what = source === 'trace' ? 'a trace' : `the dataset ${source}`;
    // Until 0.1.0 --dataset-path was the file of answers.
    const answers = idle === 'datasetFile' ? ' The file of answers is --answers-path.' : '';
    throw new UsageError(`${flagNameOf(idle)} has no effect on ${what}.${answers}`);
  }
  return source;
}

function loadDataset(
  name: DatasetKind,
  values: FlagValues,
  context: WorkloadContext,
): LoadedWorkload {
  const { seed, blockSize, maxModelLen = Infinity } = context;
  const workload = generateDataset(name, values, { seed, blockSize, maxModelLen });
  return datasetOf(name, values, { workload });
}

function datasetOf(
  name: DatasetKind | 'sharegpt',
  values: FlagValues,
  {
    notes: own = [],
    ...made
  }: Pick<LoadedWorkload, 'workload' | 'texts'> & {
    readonly notes?: readonly string[];
  },
): LoadedWorkload {
  const isTimed = ['requestRate', 'rampUpStartRps'].some((flag) =>
    values.has(flag as WorkloadFlag),
  );
  const notes = isTimed ? own : [...own, 'Without --request-rate all requests arrive at once.'];
  return { ...made, source: { kind: 'dataset', name }, report: undefined, notes };
}

async function loadTrace(values: FlagValues, context: WorkloadContext): Promise<LoadedWorkload> {
  const name = values.text('trace') ?? '';
  if (isExchangeFile(name)) {
    refuseLengths(values, 'baton');
    return loadExchanges(name, values, context);
  }
  const { workload: read, report } = await readTraceFile(name, values, context);
  const { format } = report;
  const hasLengths = format !== 'access';
  if (hasLengths) refuseLengths(values, format);
  const whole = hasLengths ? read : withAssumedLengths(read, values, context);
  const wanted = head(whole, traceValues(values).numPrompts ?? whole.count);
  const plan = arrivalsOfTrace(values, wanted);
  const notes = notesOn(wanted, plan, report);
  return {
    workload: retimed(wanted, plan, context.seed),
    source: { kind: 'trace', name, format },
    report,
    notes: hasLengths ? notes : [...notes, assumptionOf(values)],
  };
}

function traceValues(values: FlagValues) {
  return {
    format: values.choice('traceFormat', TRACE_FORMATS),
    blockTokens: values.count('traceBlockSize'),
    limit: values.count('limit', 0),
    numPrompts: values.count('numPrompts', 0),
  };
}

function refuseLengths(values: FlagValues, format: TraceFormat): void {
  const given = LENGTH_FLAGS.find((flag) => values.has(flag));
  if (given === undefined) return;
  throw new UsageError(`${flagNameOf(given)} has no effect on a trace of the format ${format}.`);
}

function assumptionOf(values: FlagValues): string {
  return (
    `Lengths are assumed, because the access log has none: ${assumedLengths(values)}. ` +
    'Change them with --random-input-len and --random-output-len.'
  );
}

async function loadExchanges(
  path: string,
  values: FlagValues,
  { seed }: WorkloadContext,
): Promise<LoadedWorkload> {
  const { limit, numPrompts } = traceValues(values);
  const read = await readExchanges(path, limit);
  const wanted = head(read.workload, numPrompts ?? read.workload.count);
  const note =
    'Exchanges left out because they were refused, incomplete, or not requests for tokens: ' +
    `${read.leftOut}.`;
  return {
    workload: retimed(wanted, arrivalsOfTrace(values, wanted), seed),
    source: { kind: 'trace', name: path, format: 'baton' },
    report: undefined,
    notes: read.leftOut === 0 ? [] : [note],
    requests: read.requests,
  };
}

function shippedTrace(name: string): (typeof SHIPPED_TRACES)[number] | undefined {
  return SHIPPED_TRACES.find((trace) => trace.name === name);
}

/** @throws UsageError for a name that is neither */
function pathOfTrace(name: string): string {
  const shipped = shippedTrace(name);
  if (shipped !== undefined) return shippedTracePath(shipped);
  if (existsSync(name)) return name;
  throw unknownTrace(name);
}

async function readTraceFile(
  name: string,
  values: FlagValues,
  context: WorkloadContext,
): Promise<Trace> {
  const shipped = shippedTrace(name);
  const path = pathOfTrace(name);
  const { limit, blockTokens, ...given } = traceValues(values);
  const format = given.format ?? shipped?.format;
  const options = { file: path, limit, blockTokens };
  const reader = format === undefined ? openAnyTrace(options) : openTrace(format, options);
  await readLines(path, {
    isGrowing: context.isGrowing === true,
    onLine: (line, lineNumber) => {
      reader.push(line, lineNumber);
      return !reader.isFull;
    },
    ...(context.onProgress === undefined ? {} : { onProgress: context.onProgress.bind(context) }),
  });
  if (blockTokens !== undefined && reader.format !== 'mooncake') {
    throw new UsageError(`--trace-block-size has no effect on the format ${reader.format}.`);
  }
  return reader.finishTrace();
}

function unknownTrace(name: string): UsageError {
  if (name === 'list') return new UsageError(`Shipped traces:\n${shippedTracesText()}`);
  const names = SHIPPED_TRACES.map((trace) => trace.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '.' : `; did you mean '${nearest}'?`;
  return new UsageError(
    `'${name}' is neither a file nor a shipped trace (${names.join(', ')})${hint}`,
  );
}

function retimed(workload: Workload, plan: ArrivalPlan, seed: number): Workload {
  if (plan.kind === 'process') {
    const limits = { count: firstCount(workload), exactRate: true };
    return withArrivals(
      workload,
      drawArrivals(plan.spec, limits, workloadStream(seed, 'arrivals')),
    );
  }
  const timed = plan.kind === 'spread' ? spreadStamps(workload) : workload;
  const ownRate = meanRatePerSecond(timed);
  if (plan.ratePerSecond === undefined || timed.count < 2) return timed;
  if (ownRate === 0) {
    throw new UsageError(
      'All requests arrive at one instant: add --arrivals poisson to give them a rate.',
    );
  }
  return scaleRate(timed, plan.ratePerSecond / ownRate);
}

function notesOn(workload: Workload, plan: ArrivalPlan, report: TraceReport): string[] {
  const most = plan.kind === 'trace' ? mostAtOneInstant(workload) : 0;
  const facts: readonly (readonly [number, string])[] = [
    [report.emptyPrompts, 'Requests without prompt tokens, changed to one token'],
    [report.emptyOutputs, 'Requests without output tokens, changed to one token'],
    [report.failed, 'Requests left out because they failed when recorded'],
    [report.outOfOrder, 'Requests out of order, now sorted'],
    [
      most >= COARSE ? most : 0,
      "Most requests with one arrival time; the trace's clock is coarse (--arrivals spread helps)",
    ],
  ];
  return facts.filter(([count]) => count > 0).map(([count, fact]) => `${fact}: ${count}.`);
}
