import { PromptContents, rowName, type Workload } from '@baton/workload';
import type { PromptWords } from './prompt-words';
import { type Protocol, protocolAt } from './protocol/protocol';

/** A request as a client sent it. */
export interface RecordedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The workload whose bodies are written. */
export interface WrittenWorkload {
  readonly workload: Workload;
  /** The prompts by row, where the source has texts. */
  readonly texts?: readonly string[];
  /** Whole requests by row, where the source has them. */
  readonly requests?: readonly RecordedRequest[];
}

export interface WriterOptions extends PromptWords {
  readonly protocol: Protocol;
  readonly model: string;
  /** True when the user chose the model, which then replaces that of recorded requests. */
  readonly isModelGiven: boolean;
  /** Prefix of every path. */
  readonly prefix: string;
  readonly seed: number;
  readonly ignoreEos: boolean;
  readonly extraBody: Readonly<Record<string, unknown>>;
}

/** Messages of a conversation, the user's and the server's in turn, ending with the user's. */
type Messages = readonly string[];

/**
 * Writes the bodies of requests: prompts of the workload's lengths and contents, and later turns
 * with the server's real answers.
 */
export class RequestWriter {
  private readonly workload: Workload;
  private readonly contents: PromptContents;
  /** Conversations so far, by the row whose answer ends them. */
  private readonly conversations = new Map<number, Messages>();
  private readonly messages = new Map<number, Messages>();
  private readonly isAwaited: Uint8Array;

  constructor(
    private readonly loaded: WrittenWorkload,
    private readonly options: WriterOptions,
  ) {
    this.workload = loaded.workload;
    this.contents = new PromptContents(loaded.workload, options.seed, options.words.length);
    this.isAwaited = awaitedRows(loaded.workload);
  }

  body(row: number): string {
    const recorded = this.loaded.requests?.[row];
    if (recorded !== undefined) return this.again(recorded);
    const messages = this.takeMessages(row);
    if (this.isAwaited[row] === 1) this.messages.set(row, messages);
    return this.written(messages, row);
  }

  /** The destination of a recorded request. */
  place(row: number): { readonly path: string; readonly protocol: Protocol } | undefined {
    const path = this.loaded.requests?.[row]?.path;
    const protocol = path === undefined ? undefined : protocolAt(path);
    return path === undefined || protocol === undefined
      ? undefined
      : { path: this.options.prefix + path, protocol };
  }

  /** A request similar to those of the workload, with separate words. */
  warmUpBody(i: number): string {
    const { count, promptTokens } = this.workload;
    const row = i % count;
    const words = this.contents.own(count + i, promptTokens[row]!);
    return this.written([this.text(this.withoutSpecial(words))], row);
  }

  /** True when a later turn quotes the answer. */
  needsAnswer(row: number): boolean {
    return this.isAwaited[row] === 1;
  }

  answered(row: number, text: string): void {
    const messages = this.messages.get(row);
    if (messages === undefined) return;
    this.messages.delete(row);
    this.conversations.set(row, [...messages, text]);
  }

  /**
   * A recorded request, unchanged except that it is streamed with usage, which the measurement
   * needs.
   */
  private again({ path, body }: RecordedRequest): string {
    const { model, extraBody, isModelGiven } = this.options;
    const hasOptions = protocolAt(path) !== 'responses';
    const options = { ...(body['stream_options'] as object | undefined), include_usage: true };
    return JSON.stringify({
      ...body,
      ...(isModelGiven ? { model } : {}),
      stream: true,
      ...(hasOptions ? { stream_options: options } : {}),
      ...extraBody,
    });
  }

  private takeMessages(row: number): Messages {
    const given = this.loaded.texts?.[row];
    if (given !== undefined) return [given];
    const before = this.workload.after[row] ?? -1;
    const conversation = this.conversations.get(before);
    if (conversation === undefined)
      return [this.text(this.withoutSpecial(this.contents.prompt(row)))];
    this.conversations.delete(before);
    const { promptTokens, outputTokens } = this.workload;
    const added = promptTokens[row]! - promptTokens[before]! - outputTokens[before]!;
    return [...conversation, this.text(this.contents.own(row, Math.max(1, added)))];
  }

  /** Tokens that the server puts before a prompt count as part of it, as in vLLM's benchmark. */
  private withoutSpecial(words: Int32Array): Int32Array {
    const { protocol, specialTokens } = this.options;
    if (protocol !== 'openai' || specialTokens === 0) return words;
    return words.subarray(0, Math.max(1, words.length - specialTokens));
  }

  private text(words: Int32Array): string {
    let text = '';
    for (const word of words) text += this.options.words[word]!;
    return text;
  }

  private written(messages: Messages, row: number): string {
    const { model, ignoreEos, extraBody } = this.options;
    const priority = this.workload.priority[row] ?? 0;
    return JSON.stringify({
      model: rowName(this.workload.adapter, row) ?? model,
      ...this.question(messages, this.workload.outputTokens[row]!),
      stream: true,
      ...(ignoreEos ? { ignore_eos: true } : {}),
      ...(priority === 0 ? {} : { priority }),
      ...extraBody,
    });
  }

  private question(messages: Messages, tokens: number): object {
    const usage = { stream_options: { include_usage: true } };
    const roles = messages.map((content, i) => {
      return { role: i % 2 === 0 ? 'user' : 'assistant', content };
    });
    switch (this.options.protocol) {
      case 'openai':
        return { prompt: messages.join(''), max_tokens: tokens, ...usage };
      case 'openai-chat':
        return { messages: roles, max_completion_tokens: tokens, ...usage };
      case 'responses':
        return { input: roles, max_output_tokens: tokens };
    }
  }
}

/**
 * Rows whose answer is part of a later prompt: those for which a turn with the whole history waits.
 */
function awaitedRows({ after, contentSpan, count }: Workload): Uint8Array {
  const isAwaited = new Uint8Array(count);
  if (contentSpan === 'sequence') {
    for (const before of after) if (before !== -1) isAwaited[before] = 1;
  }
  return isAwaited;
}
