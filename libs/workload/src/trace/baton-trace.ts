import { hashString, msToUs, secondsToUs, type Micros } from '@baton/kernel';
import { withContentBlock } from '../content-block';
import { rowName } from '../named/named-column';
import { isFirst, MOST_TOKENS, requestIdOf, type Workload, WorkloadError } from '../workload';
import { TraceFields } from './json-fields';
import { LimitedReader } from './limited-reader';
import { RequestCollector } from './request-collector';
import {
  isRecordingHeader,
  type MeasuredRequest,
  measuredObject,
  parseRecordingHeader,
} from './recording';
import { quoted, type Trace, TraceError } from './trace-reader';

const MOST_SECONDS = 4e9;
const LONGEST_ID = 1024;
/** Maximum length of an SLO class, a tenant or an adapter, in characters. */
const LONGEST_NAME = 256;
const INT32 = 2 ** 31 - 1;
const BLOCK_TOKENS = 16;

/** The keys that a line may have. docs/workload.md explains them. */
const KEYS = new Set([
  'arrival_s',
  'arrival_ms',
  'arrival_us',
  'pause_s',
  'pause_ms',
  'pause_us',
  'prompt_tokens',
  'output_tokens',
  'max_tokens',
  'id',
  'session',
  'priority',
  'slo_class',
  'tenant',
  'adapter',
  'block_size',
  'block_hashes',
  'measured',
]);

/**
 * Reads Baton's own JSON lines, which hold a whole workload and all fields that the replay of a
 * recorded run needs. Stamps count from the start of the run; those of a recording, which has a
 * header, count from its earliest request. An unknown key is refused, because it may be a
 * misspelled one.
 */
export class BatonTraceReader extends LimitedReader {
  readonly format = 'baton';
  protected collector: RequestCollector | undefined;
  private blockTokens = 0;
  private isRecording = false;
  /** Last row of each session. */
  private readonly lastRows = new Map<number, number>();

  push(line: string, lineNumber: number): void {
    const text = line.trim();
    if (text === '' || this.isFull) return;
    if (isRecordingHeader(text)) return this.begin(text, lineNumber);
    const fields = TraceFields.parse(text, this.options.file, lineNumber);
    const unknown = fields.names().find((name) => !KEYS.has(name));
    if (unknown !== undefined) throw fields.error(`unknown key ${quoted(unknown)}`);
    const collector = this.collectorFor(fields);
    const session = fields.key('session');
    const promptTokens = fields.tokens('prompt_tokens');
    const outputTokens = fields.tokens('output_tokens');
    const hashes = blockHashes(
      fields,
      Math.floor((promptTokens + outputTokens) / this.blockTokens),
    );
    const row = collector.add({
      ...this.arrival(fields, session),
      promptTokens,
      outputTokens,
      maxTokens: fields.has('max_tokens')
        ? fields.integer('max_tokens', 1, MOST_TOKENS)
        : undefined,
      session,
      priority: fields.has('priority') ? fields.integer('priority', -INT32, INT32) : undefined,
      sloClass: fields.text('slo_class', LONGEST_NAME),
      tenant: fields.text('tenant', LONGEST_NAME),
      adapter: fields.text('adapter', LONGEST_NAME),
      requestId: fields.text('id', LONGEST_ID),
    });
    if (session !== undefined) this.lastRows.set(session, row);
    collector.addContents(hashes, 0);
  }

  finishTrace(): Trace {
    const collector = this.collector ?? new RequestCollector();
    if (!this.isRecording) return collector.finishTrace(this.format, 'as-written');
    const { workload, report } = collector.finishTrace(this.format, 'first-request');
    // A request is recorded when it ends, so its line may precede lines of earlier arrivals. None
    // of them counts as out of order.
    return { workload, report: { ...report, outOfOrder: 0 } };
  }

  private begin(header: string, lineNumber: number): void {
    const { file } = this.options;
    parseRecordingHeader(header, file, lineNumber);
    if (this.isRecording || this.collector !== undefined) {
      const reason = 'another recording begins here: its stamps count from a different instant';
      throw new TraceError(file, lineNumber, reason);
    }
    this.isRecording = true;
  }

  /** The first line sets the block size. Other sizes in the same file are refused. */
  private collectorFor(fields: TraceFields): RequestCollector {
    const given = fields.has('block_size')
      ? fields.integer('block_size', 1, MOST_TOKENS)
      : undefined;
    if (this.collector === undefined) {
      this.blockTokens = given ?? BLOCK_TOKENS;
      this.collector = new RequestCollector({
        contentBlockTokens: this.blockTokens,
        contentSpan: 'sequence',
      });
    }
    if (given !== undefined && given !== this.blockTokens) {
      throw fields.error(`block_size ${given} differs from ${this.blockTokens} of the lines above`);
    }
    return this.collector;
  }

  private arrival(
    fields: TraceFields,
    session: number | undefined,
  ): { readonly arrivalUs: Micros; readonly after?: number } {
    const pauseUs = inMicros(fields, 'pause');
    const arrivalUs = inMicros(fields, 'arrival');
    if (pauseUs === undefined) {
      if (arrivalUs === undefined) throw fields.error('arrival_ms (or _s, _us) is missing');
      return { arrivalUs };
    }
    if (arrivalUs !== undefined) throw fields.error('arrival and pause exclude each other');
    const after = session === undefined ? undefined : this.lastRows.get(session);
    if (after === undefined) throw fields.error('a pause needs an earlier line of its session');
    return { arrivalUs: pauseUs, after };
  }
}

/** `<what>_s`, `<what>_ms` or `<what>_us` in µs. A line may have at most one of them. */
function inMicros(fields: TraceFields, what: 'arrival' | 'pause'): Micros | undefined {
  const given = [`${what}_s`, `${what}_ms`, `${what}_us`].filter((name) => fields.has(name));
  if (given.length > 1) throw fields.error(`${given.join(' and ')} exclude each other`);
  const [name = ''] = given;
  if (name === '') return undefined;
  if (name.endsWith('_ms')) return msToUs(fields.number(name, MOST_SECONDS * 1e3));
  if (name.endsWith('_us')) return Math.round(fields.number(name, MOST_SECONDS * 1e6));
  return secondsToUs(fields.number(name, MOST_SECONDS));
}

/** @throws TraceError for more than `most` hashes, or one that is neither a text nor a number */
export function blockHashes(fields: TraceFields, most: number): number[] {
  const hashes = fields.list('block_hashes');
  if (hashes.length > most) {
    throw fields.error(`${hashes.length} block_hashes are too many for ${most} full blocks`);
  }
  return hashes.map((hash) => {
    if (typeof hash === 'string' && hash !== '') return hashString(hash) || 1;
    if (typeof hash === 'number' && Number.isSafeInteger(hash)) {
      return hash >= 0 ? hash : hashString(String(hash)) || 1;
    }
    throw fields.error(
      `block_hashes holds ${fields.shown(hash)}, which is neither text nor a whole number`,
    );
  });
}

/** A request in the fields of one line. */
export interface TraceRow {
  /**
   * Since the start of the run. With `isPause`: since the end of the session's previous request.
   */
  readonly arrivalUs: Micros;
  readonly isPause?: boolean;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly maxTokens?: number | undefined;
  readonly id?: string | undefined;
  /** A text, or a key from 1. */
  readonly session?: string | number | undefined;
  readonly priority?: number | undefined;
  readonly sloClass?: string | undefined;
  readonly tenant?: string | undefined;
  readonly adapter?: string | undefined;
  readonly blockSize?: number | undefined;
  /**
   * Chained hashes of the full blocks of prompt and output, 0 = private. The list may end early:
   * later blocks are private.
   */
  readonly blockHashes?: readonly number[] | undefined;
  /** Measurements of the request in the recorded run. */
  readonly measured?: MeasuredRequest | undefined;
}

/** One line of this format, without its line feed. `BatonTraceReader` reads it back. */
export function traceLine(row: TraceRow): string {
  const hasHashes = row.blockHashes !== undefined && row.blockHashes.length > 0;
  return JSON.stringify({
    id: row.id,
    [row.isPause === true ? 'pause_us' : 'arrival_us']: row.arrivalUs,
    prompt_tokens: row.promptTokens,
    output_tokens: row.outputTokens,
    max_tokens: row.maxTokens,
    session: row.session,
    priority: row.priority,
    slo_class: row.sloClass,
    tenant: row.tenant,
    adapter: row.adapter,
    block_size: row.blockSize,
    block_hashes: hasHashes ? row.blockHashes : undefined,
    measured: row.measured === undefined ? undefined : measuredObject(row.measured),
  });
}

/**
 * A workload as lines of this format. Contents and sessions are numbers. The contents of a partly
 * filled block are left out.
 *
 * @throws WorkloadError for a row that waits for a row other than the previous one of its session:
 * the format has no field for it
 */
export function* traceLines(given: Workload): Generator<string, void> {
  const workload = withContentBlock(given, given.contentBlockTokens);
  const lastRows = new Map<number, number>();
  const { after, session, contentStart, contentIds, contentBlockTokens } = workload;
  const hasContents = contentIds.length > 0;
  for (let row = 0; row < workload.count; row++) {
    const key = session[row] ?? 0;
    const isPause = !isFirst(workload, row);
    if (isPause && (key === 0 || lastRows.get(key) !== after[row])) {
      throw new WorkloadError(`Request ${row} does not wait for the previous one of its session.`);
    }
    if (key !== 0) lastRows.set(key, row);
    yield traceLine({
      id: requestIdOf(workload, row),
      arrivalUs: workload.arrivalUs[row]!,
      isPause,
      promptTokens: workload.promptTokens[row]!,
      outputTokens: workload.outputTokens[row]!,
      maxTokens: workload.maxTokens[row] || undefined,
      session: key || undefined,
      priority: workload.priority[row] || undefined,
      sloClass: rowName(workload.sloClass, row),
      tenant: rowName(workload.tenant, row),
      adapter: rowName(workload.adapter, row),
      blockSize: hasContents ? contentBlockTokens : undefined,
      blockHashes: Array.from(contentIds.subarray(contentStart[row], contentStart[row + 1])),
    });
  }
}
