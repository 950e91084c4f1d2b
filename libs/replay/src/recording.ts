import { statSync } from 'node:fs';
import {
  type Instants,
  IntervalHistogram,
  outcomeCode,
  type RecordedRun,
  RequestLog,
} from '@baton/analysis';
import { UsageError } from '@baton/config';
import type { Micros } from '@baton/kernel';
import {
  isRecordingHeader,
  isRouterLine,
  type MeasuredLine,
  type MeasuredRequest,
  parseMeasured,
  parseRecordingHeader,
  parseRouterLine,
  type RecordingHeader,
  requestIdOf,
  TraceError,
  type Workload,
} from '@baton/workload';
import { readLines } from './load/files/file-lines';
import { SHIPPED_TRACES } from './load/files/shipped-traces';
import { type WorkloadFlags } from './load/workload-flags';
import { PlacementGatherer } from './recorded-placement';

/** A trace that may be the recording of a live run. */
export interface Recording {
  readonly path: string;
  /** Undefined: the trace does not begin like a file of `baton up --record`. */
  readonly header: RecordingHeader | undefined;
  /** Whether another process writes to it: its last line may be incomplete. */
  readonly isGrowing: boolean;
}

/**
 * The trace in the flags, if it is a file that can be read more than once.
 *
 * @throws UsageError when it begins like a recording but is not one
 */
export async function findRecording(
  { trace }: WorkloadFlags,
  isGrowing: boolean,
): Promise<Recording | undefined> {
  if (trace === undefined || SHIPPED_TRACES.some(({ name }) => name === trace)) return undefined;
  if (statSync(trace, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  let header: RecordingHeader | undefined;
  await readTrace(trace, {
    isGrowing,
    onLine: (line, lineNumber) => {
      if (isRecordingHeader(line)) header = parseRecordingHeader(line, trace, lineNumber);
      return line.trim() === '';
    },
  });
  return { path: trace, header, isGrowing };
}

/** A recording's facts about requests. */
export interface Recorded {
  readonly run: RecordedRun;
  readonly places: PlacementGatherer;
  /** Number of requests with facts. */
  readonly requests: number;
}

/**
 * The recording's facts about the requests of a workload that was read from it.
 *
 * @throws UsageError, with file and line, when a line contradicts the workload
 */
export async function readRecorded(
  { path, header, isGrowing }: Recording,
  workload: Workload,
): Promise<Recorded> {
  const rows = rowsById(workload);
  const places = new PlacementGatherer(workload.count);
  let requests = 0;
  const run = new RunBuilder(workload, Number(header?.config['speedup'] ?? 1));
  const onLine = (line: string, lineNumber: number): boolean => {
    const found = line.trim() === '' ? undefined : measuredIn(line, path, lineNumber);
    const row = found?.id === undefined ? undefined : rows.get(found.id);
    if (found === undefined || row === undefined) return true;
    run.add(row, found.measured);
    places.add(row, found.measured);
    requests += 1;
    return true;
  };
  await readTrace(path, { isGrowing, onLine });
  return { run, places, requests };
}

function measuredIn(line: string, path: string, lineNumber: number): MeasuredLine | undefined {
  if (isRouterLine(line.trim())) return parseRouterLine(line, path, lineNumber);
  return parseMeasured(line, path, lineNumber);
}

class RunBuilder implements RecordedRun {
  readonly seen: RequestLog;
  readonly stamped: RequestLog;
  readonly itl = new IntervalHistogram();

  constructor(
    private readonly workload: Workload,
    readonly speedup: number,
  ) {
    this.seen = new RequestLog(workload.count);
    this.stamped = new RequestLog(workload.count);
  }

  add(row: number, measured: MeasuredRequest): void {
    const { seen, stamped, outcome } = measured;
    this.put(this.seen, row, { ...stamped, ...seen, measured });
    this.put(this.stamped, row, { ...stamped, measured });
    if (outcome !== 'completed') return;
    for (const [us, times] of measured.gapsUs) this.itl.add(us, times);
  }

  private put(
    log: RequestLog,
    row: number,
    at: MeasuredRequest['stamped'] & { measured: MeasuredRequest },
  ): void {
    const { measured } = at;
    const arrivalUs = this.workload.arrivalUs[row]!;
    const fill = (column: Instants, us: Micros | undefined): void => {
      if (us !== undefined) column.set(row, arrivalUs + us);
    };
    log.outcome[row] = outcomeCode(measured.outcome === 'completed' ? 'completed' : 'failed');
    log.promptTokens[row] = this.workload.promptTokens[row]!;
    log.outputTokens[row] = this.workload.outputTokens[row]!;
    log.emittedTokens[row] = measured.tokens;
    log.cachedTokens[row] = measured.cachedTokens;
    log.transferredTokens[row] = measured.transferredTokens;
    log.arrivalUs.set(row, arrivalUs);
    fill(log.prefillStartUs, at.scheduledUs);
    fill(log.heldUs, at.heldUs);
    fill(log.firstTokenUs, at.firstTokenUs);
    fill(log.finishUs, at.finishUs);
  }
}

function rowsById(workload: Workload): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (let row = 0; row < workload.count; row++) {
    const id = requestIdOf(workload, row);
    if (id !== undefined) rows.set(id, row);
  }
  return rows;
}

async function readTrace(path: string, reader: Parameters<typeof readLines>[1]): Promise<void> {
  try {
    await readLines(path, reader);
  } catch (error) {
    if (error instanceof TraceError) throw new UsageError(error.message);
    throw error;
  }
}
