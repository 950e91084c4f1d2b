import { countIn, fieldsIn, type JsonFields } from '@baton/kernel';

/**
 * The state of one streamed answer. Protocols call it as they read events, and the sender reads it
 * at the end of the stream. Instants are ms of `performance.now()`; gaps are whole µs.
 */
export class ReceivedAnswer {
  /** First token event; NaN before it. */
  firstMs = NaN;
  /** Last event that counts for the end-to-end latency. */
  lastMs = NaN;
  readonly gapsUs: number[] = [];
  /** Number of token events. A server may put several tokens into one. */
  events = 0;
  /** By the server's usage. Undefined without it. */
  promptTokens: number | undefined;
  outputTokens: number | undefined;
  cachedTokens: number | undefined;
  /** The server's message in a failed stream. */
  error: string | undefined;
  /** True after the server's final mark: `[DONE]`, a finish reason, a terminal event. */
  isWhole = false;
  text = '';
  private previousMs = NaN;

  constructor(readonly keepsText: boolean) {}

  /**
   * An event with tokens, as vLLM's benchmark defines it: the first gives TTFT, each further one a
   * gap.
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

/** The object in an event. Undefined when it has none. */
export function parsedEvent(data: string): JsonFields | undefined {
  try {
    return fieldsIn(JSON.parse(data));
  } catch {
    return undefined;
  }
}
