import { countIn, fieldsIn, type JsonFields } from '@baton/kernel';

/**
 * What has come of one streamed answer. Protocols call it as they read events; the sender reads it
 * when the stream has ended. Instants are ms of `performance.now()`; gaps are whole µs.
 */
export class ReceivedAnswer {
  /** First token event; NaN before it. */
  firstMs = NaN;
  /** Last event that counts for the end-to-end latency. */
  lastMs = NaN;
  readonly gapsUs: number[] = [];
  /** Token events; a server may put several tokens into one. */
  events = 0;
  /** As the server counts; undefined when it does not say. */
  promptTokens: number | undefined;
  outputTokens: number | undefined;
  cachedTokens: number | undefined;
  /** Why the stream failed: the server's message. */
  error: string | undefined;
  /** Whether the server marked the end: `[DONE]`, a finish reason, a terminal event. */
  isWhole = false;
  text = '';
  private previousMs = NaN;

  constructor(readonly keepsText: boolean) {}

  /**
   * An event that carries tokens, as vLLM's benchmark understands it: the first makes TTFT, each
   * further one a gap.
   */
  token(atMs: number): void {
    if (this.events === 0) this.firstMs = atMs;
    else this.gapsUs.push(Math.round((atMs - this.previousMs) * 1_000));
    this.events += 1;
    this.previousMs = atMs;
    this.lastMs = atMs;
  }

  /** An event without tokens that still belongs to the answer. */
  closing(atMs: number): void {
    this.previousMs = atMs;
    this.lastMs = atMs;
  }

  usage(usage: unknown): void {
    const { prompt_tokens, completion_tokens, input_tokens, output_tokens, ...rest } =
      fieldsIn(usage);
    const details = fieldsIn(rest['prompt_tokens_details'] ?? rest['input_tokens_details']);
    this.promptTokens = countIn(prompt_tokens ?? input_tokens) ?? this.promptTokens;
    this.outputTokens = countIn(completion_tokens ?? output_tokens) ?? this.outputTokens;
    this.cachedTokens = countIn(details['cached_tokens']) ?? this.cachedTokens;
  }

  fail(error: unknown): void {
    const { message } = fieldsIn(error);
    const why = typeof error === 'string' ? error : message;
    this.error ??= typeof why === 'string' && why !== '' ? why : JSON.stringify(error);
  }
}

/** The object in an event, undefined when it is none. */
export function parsedEvent(bytes: Buffer, from: number, to: number): JsonFields | undefined {
  try {
    return fieldsIn(JSON.parse(bytes.toString('utf8', from, to)));
  } catch {
    return undefined;
  }
}
