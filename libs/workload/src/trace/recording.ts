import type { Micros } from '@baton/kernel';
import { TraceFields } from './json-fields';

/**
 * The key that distinguishes the first line of a recording from lines of requests. Its value is the
 * version of the format.
 */
const MARK = 'baton_recording';
const VERSION = 1;
const LONGEST_TEXT = 1024;
const MOST_US = 4e15;

/** First line of a recording of a live cluster. */
export interface RecordingHeader {
  /** Version of the Baton that wrote it. */
  readonly version: string;
  /** Start of the recording, µs since the Unix epoch. */
  readonly startedUs: Micros;
  /** The process that wrote it: its machine and its process id. */
  readonly host: string;
  readonly pid: number;
  /** The resolved configuration by file names, without secrets and options of a single process. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** The end of a recorded request. `aborted`: its client disconnected. */
export const RECORDED_OUTCOMES = ['completed', 'failed', 'aborted'] as const;
export type RecordedOutcome = (typeof RECORDED_OUTCOMES)[number];

/**
 * Instants in µs of simulated time since the request's arrival. Instants that did not occur or are
 * unknown are left out.
 */
export interface RecordedInstants {
  /** Start of its first step on the engine that computes the prompt. */
  readonly scheduledUs?: Micros | undefined;
  readonly heldUs?: Micros | undefined;
  /** Start of its first step on the decode engine. */
  readonly decodeUs?: Micros | undefined;
  readonly firstTokenUs?: Micros | undefined;
  readonly finishUs?: Micros | undefined;
}

/** The measurements of one request: the `measured` object of its line. */
export interface MeasuredRequest {
  readonly outcome: RecordedOutcome;
  readonly finishReason: string;
  readonly error?: string | undefined;
  readonly endpoint?: string | undefined;
  /** Arrival on the wall clock, µs since the Unix epoch. */
  readonly arrivalWallUs?: Micros | undefined;
  readonly flow?: string | undefined;
  readonly prefillEngine?: string | undefined;
  readonly decodeEngine?: string | undefined;
  /** Output tokens received. */
  readonly tokens: number;
  readonly cachedTokens: number;
  readonly transferredTokens: number;
  /** Stamped by the engines. */
  readonly stamped: RecordedInstants;
  /**
   * Stamped by the API process, times the speedup: they include delivery and delays of the machine.
   */
  readonly seen: Pick<RecordedInstants, 'firstTokenUs' | 'finishUs'>;
  /**
   * Gaps between its tokens in the API process: µs of simulated time, and how often each occurred.
   */
  readonly gapsUs: readonly (readonly [us: Micros, times: number])[];
}

/** The first line, without its line feed. */
export function recordingHeaderLine(header: RecordingHeader): string {
  const { version, startedUs, host, pid, config } = header;
  return JSON.stringify({ [MARK]: VERSION, version, started_us: startedUs, host, pid, config });
}

/** True for the first line of a recording. */
export function isRecordingHeader(line: string): boolean {
  return line.trimStart().startsWith(`{"${MARK}"`);
}

/**
 * Reads the first line of a recording.
 *
 * @throws TraceError with file and line when it is broken or has another version
 */
export function parseRecordingHeader(line: string, file: string, lineNumber = 1): RecordingHeader {
  const fields = TraceFields.parse(line, file, lineNumber);
  fields.integer(MARK, VERSION, VERSION);
  return {
    version: fields.text('version', LONGEST_TEXT) ?? '',
    startedUs: fields.number('started_us', MOST_US),
    host: fields.text('host', LONGEST_TEXT) ?? '',
    pid: fields.integer('pid', 0, Number.MAX_SAFE_INTEGER),
    config: fields.object('config')?.values ?? {},
  };
}

/** The measurements of a line, with the id of the request. */
export interface MeasuredLine {
  readonly id: string | undefined;
  readonly measured: MeasuredRequest;
}

/**
 * Reads the `measured` object of a line. Undefined when it has none, as in the first line of a
 * recording.
 *
 * @throws TraceError with file and line when the object is invalid
 */
export function parseMeasured(
  line: string,
  file: string,
  lineNumber: number,
): MeasuredLine | undefined {
  const fields = TraceFields.parse(line, file, lineNumber);
  const found = fields.object('measured');
  if (found === undefined) return undefined;
  return { id: fields.text('id', LONGEST_TEXT), measured: measuredOf(found) };
}

function measuredOf(fields: TraceFields): MeasuredRequest {
  const text = (name: string): string | undefined => fields.text(name, LONGEST_TEXT);
  return {
    outcome: fields.choice('outcome', RECORDED_OUTCOMES),
    finishReason: text('finish_reason') ?? '',
    error: text('error'),
    endpoint: text('endpoint'),
    arrivalWallUs: instant(fields, 'arrival_wall_us'),
    flow: text('flow'),
    prefillEngine: text('prefill_engine'),
    decodeEngine: text('decode_engine'),
    tokens: fields.tokens('tokens'),
    cachedTokens: fields.tokens('cached_tokens'),
    transferredTokens: fields.tokens('transferred_tokens'),
    stamped: instantsOf(fields.object('stamped')),
    seen: instantsOf(fields.object('seen')),
    gapsUs: fields.list('gaps_us').map((pair) => gapOf(fields, pair)),
  };
}

function instantsOf(fields: TraceFields | undefined): RecordedInstants {
  if (fields === undefined) return {};
  return {
    scheduledUs: instant(fields, 'scheduled_us'),
    heldUs: instant(fields, 'held_us'),
    decodeUs: instant(fields, 'decode_us'),
    firstTokenUs: instant(fields, 'first_token_us'),
    finishUs: instant(fields, 'finish_us'),
  };
}

function instant(fields: TraceFields, name: string): Micros | undefined {
  return fields.has(name) ? fields.number(name, MOST_US) : undefined;
}

function gapOf(fields: TraceFields, pair: unknown): readonly [number, number] {
  const [us, times] = Array.isArray(pair) ? (pair as unknown[]) : [];
  if (Number.isSafeInteger(us) && Number.isSafeInteger(times) && Number(us) >= 0) {
    return [Number(us), Number(times)];
  }
  throw fields.error(
    `gaps_us holds ${JSON.stringify(pair)}, which is not a pair of length and count`,
  );
}

/** The `measured` object of a line. */
export function measuredObject(measured: MeasuredRequest): object {
  const { stamped, seen } = measured;
  return {
    outcome: measured.outcome,
    finish_reason: measured.finishReason,
    error: measured.error,
    endpoint: measured.endpoint,
    arrival_wall_us: measured.arrivalWallUs,
    flow: measured.flow,
    prefill_engine: measured.prefillEngine,
    decode_engine: measured.decodeEngine,
    tokens: measured.tokens,
    cached_tokens: measured.cachedTokens,
    transferred_tokens: measured.transferredTokens,
    stamped: {
      scheduled_us: stamped.scheduledUs,
      held_us: stamped.heldUs,
      decode_us: stamped.decodeUs,
      first_token_us: stamped.firstTokenUs,
      finish_us: stamped.finishUs,
    },
    seen: { first_token_us: seen.firstTokenUs, finish_us: seen.finishUs },
    gaps_us: measured.gapsUs,
  };
}
