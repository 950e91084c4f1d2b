import { hashString, type Micros } from '@baton/kernel';
import { LoggerClock } from './logger-clock';
import { RequestCollector } from './request-collector';
import { type Trace, TraceError, type TraceOptions, type TraceReader } from './trace-reader';

/** `(APIServer pid=7) INFO 02-13 11:33:33 [logger.py:49] …`: vLLM's logger writes no year. */
const STAMP = /\b(?:DEBUG|INFO|WARNING|ERROR) (\d\d)-(\d\d) (\d\d:\d\d:\d\d) /;
const RECEIVED = /Received request ([^\s:]+): /;
const DETAILS = /Request ([^\s:]+) details: /;
const GENERATED = /Generated response ([^\s:]+)( \(streaming (?:delta|complete)\))?: /;
const PROMPT_IDS = /prompt_token_ids: \[([\d, ]*)\]/;
const OUTPUT_IDS = /output_token_ids: \[([\d, ]*)\]/;
const MAX_TOKENS = /\bmax_tokens=(\d+)/;
const BLOCK_TOKENS = 16;

/** True for a line of vLLM's server log. */
export function isVllmLogLine(line: string): boolean {
  return STAMP.test(line);
}

interface LoggedRequest {
  readonly id: string;
  readonly lineNumber: number;
  readonly arrivalUs: Micros;
  readonly maxTokens: number | undefined;
  /** Undefined before a line gives it. */
  prompt: readonly string[] | undefined;
  outputTokens: number | undefined;
}

/**
 * Reads the request log of a vLLM server (`--enable-log-requests --enable-log-outputs`, with
 * VLLM_LOGGING_LEVEL=DEBUG for the ids of prompts), as vllm/entrypoints/logger.py writes it. A
 * request arrives in the second of its log line. Blocks of 16 tokens with equal ids are equal
 * content. An output that was not logged has the length of its max_tokens. Other lines are ignored.
 */
export class VllmLogReader implements TraceReader {
  readonly format = 'vllm';
  private readonly clock = new LoggerClock();
  private readonly requests = new Map<string, LoggedRequest>();

  constructor(private readonly options: TraceOptions) {}

  get count(): number {
    return this.requests.size;
  }

  /** The outputs of earlier requests can follow in later lines. */
  readonly isFull = false;

  push(line: string, lineNumber: number): void {
    const received = RECEIVED.exec(line);
    if (received !== null) return this.begin(received[1]!, line, lineNumber);
    const details = DETAILS.exec(line);
    const known = details && this.requests.get(details[1]!);
    if (known) known.prompt = idsIn(PROMPT_IDS, line);
    const generated = GENERATED.exec(line);
    const answered = generated && this.requests.get(generated[1]!);
    if (answered) this.answer(answered, generated[2] ?? '', line);
  }

  finishTrace(): Trace {
    const collector = new RequestCollector({
      contentBlockTokens: BLOCK_TOKENS,
      contentSpan: 'prompt',
    });
    for (const request of this.requests.values()) this.add(collector, request);
    return collector.finishTrace(this.format, 'first-request');
  }

  private begin(id: string, line: string, lineNumber: number): void {
    if (this.count >= (this.options.limit ?? Infinity)) return;
    const arrivalUs = this.instant(line, lineNumber);
    const [, max] = MAX_TOKENS.exec(line) ?? [];
    const maxTokens = max === undefined ? undefined : Number(max);
    const prompt = idsIn(PROMPT_IDS, line);
    this.requests.set(id, {
      id,
      lineNumber,
      arrivalUs,
      maxTokens,
      prompt,
      outputTokens: undefined,
    });
  }

  /** The deltas of a stream have the ids of its tokens. Its last line repeats only the text. */
  private answer(request: LoggedRequest, kind: string, line: string): void {
    const ids = idsIn(OUTPUT_IDS, line);
    if (ids === undefined) return;
    const before = kind.includes('delta') ? (request.outputTokens ?? 0) : 0;
    request.outputTokens = before + ids.length;
  }

  private add(collector: RequestCollector, request: LoggedRequest): void {
    const { id, lineNumber, arrivalUs, prompt, maxTokens } = request;
    if (prompt === undefined) {
      const how = 'run vLLM with VLLM_LOGGING_LEVEL=DEBUG and without --max-log-len';
      throw this.error(lineNumber, `the log has no prompt_token_ids of ${id}: ${how}`);
    }
    const outputTokens = request.outputTokens ?? maxTokens;
    if (outputTokens === undefined) {
      const how = 'run vLLM with --enable-log-outputs';
      throw this.error(
        lineNumber,
        `the log has neither the output nor max_tokens of ${id}: ${how}`,
      );
    }
    const promptTokens = prompt.length;
    collector.add({ arrivalUs, promptTokens, outputTokens, maxTokens, requestId: id });
    collector.addContents(blocksOf(prompt), 0);
  }

  private instant(line: string, lineNumber: number): Micros {
    const [, month = '', day = '', time = ''] = STAMP.exec(line) ?? [];
    const atUs = this.clock.read(month, day, time);
    if (Number.isNaN(atUs))
      throw this.error(lineNumber, 'a request without a time like 02-13 11:33:33');
    return atUs;
  }

  private error(lineNumber: number, reason: string): TraceError {
    return new TraceError(this.options.file, lineNumber, reason);
  }
}

function idsIn(pattern: RegExp, line: string): string[] | undefined {
  const [, list] = pattern.exec(line) ?? [];
  if (list === undefined) return undefined;
  return list.trim() === '' ? [] : list.split(',').map((id) => id.trim());
}

/** The key of each full block covers its tokens and those before it. */
function blocksOf(ids: readonly string[]): number[] {
  const blocks: number[] = [];
  for (let end = BLOCK_TOKENS; end <= ids.length; end += BLOCK_TOKENS) {
    const before = blocks.at(-1) ?? 0;
    blocks.push(hashString(`${before}:${ids.slice(end - BLOCK_TOKENS, end).join(',')}`) || 1);
  }
  return blocks;
}
