import {
  fieldsIn,
  hashString,
  isObject,
  type JsonFields,
  type Micros,
  textIn,
} from '@baton/kernel';
import { MOST_TOKENS } from '../workload';
import { TraceFields } from './json-fields';
import { LimitedReader } from './limited-reader';
import { RequestCollector } from './request-collector';
import { quoted, type Trace, TraceError } from './trace-reader';

/** Attribute names, the newer one first. vLLM's spans have the older one. */
const INPUT_TOKENS = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'] as const;
const OUTPUT_TOKENS = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'] as const;
const CONVERSATION = 'gen_ai.conversation.id';
const MAX_TOKENS = 'gen_ai.request.max_tokens';
/** `STATUS_CODE_ERROR` of OTLP, as number or name. */
const ERROR_CODES: ReadonlySet<unknown> = new Set([2, 'STATUS_CODE_ERROR']);

/** Whether a line is one export request of OTLP in JSON. */
export function isOtlpLine(line: string): boolean {
  return line.startsWith('{') && line.includes('"resourceSpans"');
}

/**
 * Reads spans of OpenTelemetry's GenAI conventions from OTLP in JSON, one export request per line,
 * as the Collector's file exporter writes it. A span with prompt and output tokens is a request
 * that arrives when the span starts. Spans of a failed call count as failed; all other spans are
 * ignored. Prompts are private, because spans have no facts about shared contents.
 */
export class OtlpTraceReader extends LimitedReader {
  readonly format = 'otlp';
  protected readonly collector = new RequestCollector();

  push(line: string, lineNumber: number): void {
    const text = line.trim();
    if (text === '' || this.isFull) return;
    const fields = TraceFields.parse(text, this.options.file, lineNumber);
    const spans = fields.list('resourceSpans').flatMap((one) => listIn(one, 'scopeSpans'));
    for (const span of spans.flatMap((scope) => listIn(scope, 'spans'))) {
      if (!this.isFull) this.add(fieldsIn(span), lineNumber);
    }
  }

  finishTrace(): Trace {
    return this.collector.finishTrace(this.format, 'first-request');
  }

  private add(span: JsonFields, line: number): void {
    const attributes = parseAttributes(span);
    const [prompt, output] = [INPUT_TOKENS, OUTPUT_TOKENS].map((names) => {
      return names.map((name) => attributes.get(name)).find((value) => value !== undefined);
    });
    if (ERROR_CODES.has(fieldsIn(span['status'])['code'])) {
      if (prompt !== undefined || output !== undefined) this.collector.failed += 1;
      return;
    }
    if (prompt === undefined || output === undefined) return;
    const conversation = textIn(fieldsIn(attributes.get(CONVERSATION))['stringValue']);
    const most = attributes.get(MAX_TOKENS);
    this.collector.add({
      arrivalUs: this.arrivalUs(span, line),
      promptTokens: this.tokens(INPUT_TOKENS[0], prompt, line),
      outputTokens: this.tokens(OUTPUT_TOKENS[0], output, line),
      ...(conversation === undefined ? {} : { session: hashString(conversation) || 1 }),
      ...(most === undefined
        ? {}
        : { maxTokens: Math.max(1, this.tokens(MAX_TOKENS, most, line)) }),
    });
  }

  private arrivalUs(span: JsonFields, line: number): Micros {
    const given = span['startTimeUnixNano'];
    const digits = typeof given === 'number' ? String(given) : given;
    if (typeof digits !== 'string' || !/^\d{1,20}$/.test(digits)) {
      throw this.error(
        line,
        `startTimeUnixNano ${quoted(JSON.stringify(given ?? null))} is not a time`,
      );
    }
    // Nanoseconds since 1970 exceed the exact numbers of a double. Microseconds do not.
    return Number(BigInt(digits) / 1_000n);
  }

  /** OTLP writes whole numbers as text or as numbers. */
  private tokens(name: string, value: unknown, line: number): number {
    const { intValue, doubleValue } = fieldsIn(value);
    const count = Number(intValue ?? doubleValue ?? NaN);
    if (Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS) return count;
    const shown = quoted(JSON.stringify(value));
    throw this.error(line, `${name} ${shown} is not a whole number from 0 to ${MOST_TOKENS}`);
  }

  private error(line: number, reason: string): TraceError {
    return new TraceError(this.options.file, line, reason);
  }
}

function parseAttributes(span: JsonFields): Map<string, unknown> {
  const pairs = listIn(span, 'attributes').filter(isObject);
  return new Map(pairs.map(({ key, value }) => [String(key), value]));
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldsIn(value)[name];
  return Array.isArray(list) ? list : [];
}
