import { msToUs } from '@baton/kernel';
import { IdTable } from './id-table';
import { TraceFields } from './json-fields';
import { LimitedReader } from './limited-reader';
import { RequestCollector } from './request-collector';
import { type Trace, type TraceOptions } from './trace-reader';

/**
 * Tokens per block hash in the released traces of Mooncake (kvcache-ai/Mooncake, FAST25-release).
 */
const BLOCK_TOKENS = 512;
const MOST_MS = 4e12;

/**
 * Reads Mooncake's JSON lines: `timestamp` in ms, `input_length`, `output_length`, and `hash_ids`,
 * an integer of any size per block of the prompt; the prompt may fill the last block in part. It
 * also reads Dynamo's
 * additions: a row of a `session_id` without `timestamp` arrives `delay` ms after the previous row
 * of its session. Dynamo's agentic graphs (`wait_for`) are refused. Arrivals count from the
 * earliest request.
 */
export class MooncakeTraceReader extends LimitedReader {
  readonly format = 'mooncake';
  private readonly blockTokens: number;
  protected readonly collector: RequestCollector;
  private readonly ids = new IdTable();
  /** Last row of each session. */
  private readonly lastRows = new Map<number, number>();

  constructor(options: TraceOptions) {
    super(options);
    this.blockTokens = options.blockTokens ?? BLOCK_TOKENS;
    this.collector = new RequestCollector({ contentBlockTokens: this.blockTokens });
  }

  push(line: string, lineNumber: number): void {
    const text = line.trim();
    if (text === '' || this.isFull) return;
    const fields = TraceFields.parse(text, this.options.file, lineNumber);
    if (fields.has('wait_for')) throw fields.error('wait_for (agentic Mooncake) is not supported');
    const promptTokens = fields.tokens('input_length');
    const hashIds = this.hashIds(fields, promptTokens);
    const session = fields.key('session_id');
    const row = this.collector.add({
      ...this.arrival(fields, session),
      promptTokens,
      outputTokens: fields.tokens('output_length'),
      session,
    });
    if (session !== undefined) this.lastRows.set(session, row);
    // Ids of the trace begin at 0, which means "private" in a workload.
    this.collector.addContents(hashIds, 1);
  }

  finishTrace(): Trace {
    return this.collector.finishTrace(this.format, 'first-request');
  }

  private arrival(
    fields: TraceFields,
    session: number | undefined,
  ): { readonly arrivalUs: number; readonly after?: number | undefined } {
    const delay = ['delay', 'delay_ms'].find((name) => fields.has(name));
    const before = session === undefined ? undefined : this.lastRows.get(session);
    if (fields.has('timestamp') || delay === undefined || before === undefined) {
      return { arrivalUs: msToUs(fields.number('timestamp', MOST_MS)) };
    }
    return { arrivalUs: msToUs(fields.number(delay, MOST_MS)), after: before };
  }

  private hashIds(fields: TraceFields, promptTokens: number): readonly number[] {
    const ids = fields.list('hash_ids');
    if (ids.length > Math.ceil(promptTokens / this.blockTokens)) {
      throw fields.error(
        `${ids.length} hash_ids are too many for ${promptTokens} tokens in blocks of ` +
          `${this.blockTokens}`,
      );
    }
    return ids.map((id) => {
      const number = this.ids.numberOf(id);
      if (number !== undefined) return number;
      throw fields.error(
        this.ids.isFull
          ? 'the trace has too many different hash_ids that are negative or above 2^52'
          : `hash_ids holds ${fields.shown(id)}, which is not a whole number`,
      );
    });
  }
}
