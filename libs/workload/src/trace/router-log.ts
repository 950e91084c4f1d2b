import { msToUs, secondsToUs, type Micros } from '@baton/kernel';
import { MOST_TOKENS } from '../workload';
import { blockHashes } from './baton-trace';
import { CalendarClock } from './calendar-clock';
import { TraceFields } from './json-fields';
import type { MeasuredLine } from './recording';
import { LimitedReader } from './limited-reader';
import { RequestCollector } from './request-collector';
import type { Trace } from './trace-reader';

const MOST_SECONDS = 4e9;
const MOST_MS = 1e9;
const LONGEST_TEXT = 1024;
const BLOCK_TOKENS = 16;

/** True for a line with one decision of a router. */
export function isRouterLine(line: string): boolean {
  return line.startsWith('{') && line.includes('"request_id"') && line.includes('"endpoint"');
}

/**
 * Reads the access log of a router, one JSON object per request: `time` (ISO 8601, or seconds since
 * any instant), `request_id`, `endpoint`, `prompt_tokens`, `output_tokens`; optionally
 * `decode_endpoint`, `block_hashes` of `block_size` tokens, `session` and `ttft_ms`. Other keys are
 * ignored.
 */
export class RouterLogReader extends LimitedReader {
  readonly format = 'router';
  private readonly clock = new CalendarClock();
  protected collector: RequestCollector | undefined;
  private blockTokens = BLOCK_TOKENS;

  push(line: string, lineNumber: number): void {
    const text = line.trim();
    if (text === '' || this.isFull) return;
    const fields = TraceFields.parse(text, this.options.file, lineNumber);
    const collector = this.collectorFor(fields);
    const promptTokens = fields.tokens('prompt_tokens');
    const outputTokens = fields.tokens('output_tokens');
    const most = Math.floor((promptTokens + outputTokens) / this.blockTokens);
    const hashes = blockHashes(fields, most);
    const arrivalUs = this.arrival(fields);
    const session = fields.key('session');
    const requestId = fields.text('request_id', LONGEST_TEXT);
    collector.add({ arrivalUs, promptTokens, outputTokens, session, requestId });
    collector.addContents(hashes, 0);
  }

  finishTrace(): Trace {
    const { workload, report } = (this.collector ?? new RequestCollector()).finishTrace(
      this.format,
      'first-request',
    );
    // Routers log a request at its end, so lines are not in the order of arrivals.
    return { workload, report: { ...report, outOfOrder: 0 } };
  }

  private arrival(fields: TraceFields): Micros {
    if (typeof fields.values['time'] === 'number') {
      return secondsToUs(fields.number('time', MOST_SECONDS));
    }
    const atUs = this.clock.read(fields.text('time', LONGEST_TEXT) ?? '');
    if (Number.isNaN(atUs))
      throw fields.fieldError('time', 'is not a time like 2026-11-16T18:15:46.68Z');
    return atUs;
  }

  /** The first line sets the block size. Other sizes in the same file are refused. */
  private collectorFor(fields: TraceFields): RequestCollector {
    const given = fields.has('block_size')
      ? fields.integer('block_size', 1, MOST_TOKENS)
      : this.blockTokens;
    if (this.collector === undefined) {
      this.blockTokens = given;
      this.collector = new RequestCollector({
        contentBlockTokens: given,
        contentSpan: 'sequence',
      });
    }
    if (given === this.blockTokens) return this.collector;
    throw fields.error(`block_size ${given} differs from ${this.blockTokens} of the lines above`);
  }
}

/**
 * The measurements in a line of a router's log: the engine of the request, and its TTFT if the line
 * has it.
 *
 * @throws TraceError with file and line
 */
export function parseRouterLine(line: string, file: string, lineNumber: number): MeasuredLine {
  const fields = TraceFields.parse(line, file, lineNumber);
  const endpoint = fields.text('endpoint', LONGEST_TEXT);
  if (endpoint === undefined) throw fields.fieldError('endpoint', 'is not a text');
  const firstTokenUs = fields.has('ttft_ms')
    ? msToUs(fields.number('ttft_ms', MOST_MS))
    : undefined;
  return {
    id: fields.text('request_id', LONGEST_TEXT),
    measured: {
      outcome: 'completed',
      finishReason: '',
      prefillEngine: endpoint,
      decodeEngine: fields.text('decode_endpoint', LONGEST_TEXT) ?? endpoint,
      tokens: fields.tokens('output_tokens'),
      cachedTokens: 0,
      transferredTokens: 0,
      gapsUs: [],
      stamped: {},
      seen: { firstTokenUs },
    },
  };
}
