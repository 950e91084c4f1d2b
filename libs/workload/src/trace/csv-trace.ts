import { csvFields, hashString, type Micros } from '@baton/kernel';
import { MOST_TOKENS } from '../workload';
import { CalendarClock } from './calendar-clock';
import { CsvFields } from './csv-fields';
import { LimitedReader } from './limited-reader';
import { RequestCollector } from './request-collector';
import {
  quoted,
  type Trace,
  TraceError,
  type TraceFormat,
  type TraceOptions,
} from './trace-reader';

const MOST_SECONDS = 4_000_000_000;
const MOST_US = MOST_SECONDS * 1_000_000;

/** The column names of a published trace. A file may have further columns, in any order. */
export interface CsvLayout {
  readonly format: TraceFormat;
  readonly arrival: string;
  readonly prompt: string;
  readonly output: string;
  /** `calendar`: 2023-11-16 18:15:46.68; `seconds`: seconds since any instant. */
  readonly clock: 'calendar' | 'seconds';
  /** Column with the key of the conversation, if the file has it. A field may be blank. */
  readonly session?: string;
  /** Column whose only valid value is 1. */
  readonly one?: string;
  /** A row without output is a failed request and is left out. */
  readonly failsWithoutOutput?: true;
}

/**
 * - azure: Azure/AzurePublicDataset, AzureLLMInferenceTrace_{code,conv}.csv (2023) and …_1week.csv
 *   (2024);
 * - burstgpt: HPMLL/BurstGPT, BurstGPT_{1,2}.csv, and _3 with sessions; its README says that no
 *   response tokens mean a failure;
 * - vidur: microsoft/vidur, data/processed_traces;
 * - splitwise: Mutinifni/splitwise-sim, the output of generate_trace.py.
 */
export const CSV_LAYOUTS: readonly CsvLayout[] = [
  {
    format: 'azure',
    arrival: 'TIMESTAMP',
    prompt: 'ContextTokens',
    output: 'GeneratedTokens',
    clock: 'calendar',
  },
  {
    format: 'burstgpt',
    arrival: 'Timestamp',
    prompt: 'Request tokens',
    output: 'Response tokens',
    clock: 'seconds',
    session: 'Session ID',
    failsWithoutOutput: true,
  },
  {
    format: 'vidur',
    arrival: 'arrived_at',
    prompt: 'num_prefill_tokens',
    output: 'num_decode_tokens',
    clock: 'seconds',
  },
  {
    format: 'splitwise',
    arrival: 'arrival_timestamp',
    prompt: 'prompt_size',
    output: 'token_size',
    clock: 'seconds',
    one: 'batch_size',
  },
];

/** The columns without which a file is not of this layout. */
export function neededColumns(layout: CsvLayout): string[] {
  return [layout.arrival, layout.prompt, layout.output];
}

/** The names in a line that may be a header. */
export function columnNames(line: string): string[] {
  return csvFields(line.trim());
}

/**
 * Reads a trace in comma-separated values with a header. Arrivals count from the earliest request.
 * A line that does not fit the format is refused.
 */
export class CsvTraceReader extends LimitedReader {
  protected readonly collector = new RequestCollector();
  private readonly clock = new CalendarClock();
  private fields: CsvFields | undefined;
  private names: readonly string[] = [];
  private arrival = -1;
  private prompt = -1;
  private output = -1;
  private session = -1;
  private one = -1;
  private lineNumber = 0;

  constructor(
    private readonly layout: CsvLayout,
    options: TraceOptions,
  ) {
    super(options);
  }

  get format(): TraceFormat {
    return this.layout.format;
  }

  push(line: string, lineNumber: number): void {
    this.lineNumber = lineNumber;
    const text = line.trim();
    if (text === '' || this.isFull) return;
    if (this.fields === undefined) {
      this.readHeader(text);
      return;
    }
    const found = this.fields.read(text);
    const { columns } = this.fields;
    if (found !== columns) throw this.error(`${found} fields instead of ${columns}`);
    this.readRow(this.fields);
  }

  finishTrace(): Trace {
    return this.collector.finishTrace(this.format, 'first-request');
  }

  private readHeader(text: string): void {
    const names = columnNames(text);
    const missing = neededColumns(this.layout).filter((name) => !names.includes(name));
    if (missing.length > 0) {
      throw this.error(`the header ${quoted(text)} lacks ${missing.join(', ')}`);
    }
    this.fields = new CsvFields(names.length);
    this.names = names;
    this.arrival = names.indexOf(this.layout.arrival);
    this.prompt = names.indexOf(this.layout.prompt);
    this.output = names.indexOf(this.layout.output);
    const { session, one } = this.layout;
    // In a file with an index, that column has no name and is ignored.
    this.session = session === undefined ? -1 : names.indexOf(session);
    this.one = one === undefined ? -1 : names.indexOf(one);
  }

  private readRow(fields: CsvFields): void {
    const arrivalUs = this.readArrival(fields);
    const promptTokens = this.readTokens(fields, this.prompt);
    const outputTokens = this.readTokens(fields, this.output);
    if (this.one !== -1 && fields.count(this.one) !== 1) {
      throw this.fieldError(fields, this.one, 'is not 1');
    }
    if (outputTokens === 0 && this.layout.failsWithoutOutput === true) {
      this.collector.failed += 1;
      return;
    }
    const session = this.session === -1 ? '' : fields.text(this.session);
    const key = session === '' ? undefined : hashString(session) || 1;
    this.collector.add({ arrivalUs, promptTokens, outputTokens, session: key });
  }

  private readArrival(fields: CsvFields): Micros {
    if (this.layout.clock === 'calendar') {
      const atUs = this.clock.read(fields.text(this.arrival));
      if (Number.isNaN(atUs)) {
        throw this.fieldError(fields, this.arrival, 'is not a time like 2023-11-16 18:15:46.68');
      }
      return atUs;
    }
    const atUs = fields.seconds(this.arrival);
    if (!(atUs >= 0 && atUs <= MOST_US)) {
      throw this.fieldError(
        fields,
        this.arrival,
        `is not a number of seconds from 0 to ${MOST_SECONDS}`,
      );
    }
    return atUs;
  }

  private readTokens(fields: CsvFields, field: number): number {
    const tokens = fields.count(field);
    if (tokens < 0 || tokens > MOST_TOKENS) {
      throw this.fieldError(fields, field, `is not a whole number from 0 to ${MOST_TOKENS}`);
    }
    return tokens;
  }

  private fieldError(fields: CsvFields, field: number, why: string): TraceError {
    return this.error(`${this.names[field]} ${quoted(fields.text(field))} ${why}`);
  }

  private error(reason: string): TraceError {
    return new TraceError(this.options.file, this.lineNumber, reason);
  }
}
