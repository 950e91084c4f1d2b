import type { BatonError, EndReason } from '@baton/contract';
import { asciiJson, type PlanSegment, type RawJson, rawObject } from '@baton/text';
import { VisibleText } from '../answer/visible-text';
import type { Dialect } from '../refusal/dialect';
import {
  deltaUsage,
  type MessageContext,
  messageUsage,
  signatureOf,
  type StopFields,
  stopFields,
  textBlock,
  toolUseBlock,
  toolUseId,
  unfilledFields,
} from './message-facts';
import { renderMessageError } from './message-error';

/**
 * A message as a stream of named events. It tracks the open block and the shown part of its text.
 * Tokens come in order and without repeats. Every returned string consists of whole events, in
 * ASCII.
 */
export class StreamedMessage {
  /** The message's one sequence. */
  readonly sequences: readonly [this];
  private readonly segments: readonly Segment[];
  private current = 0;
  /** Visible text of the current segment, from its first token on. */
  private text: VisibleText | undefined;
  private nextBlock = 0;
  private isBlockOpen = false;
  private received = 0;
  private stop: StopFields | undefined;

  constructor(private readonly context: MessageContext) {
    const { tokenIds, cut, segments } = context.plan;
    this.sequences = [this];
    const all: Segment = { kind: 'content', from: 0, to: tokenIds.length, cut, name: '', call: 0 };
    const parts: readonly Segment[] = segments ?? [all];
    this.segments = parts.filter(({ from, to }) => from < to);
  }

  /** The opening events. Sent once, with the first token. */
  open(): string {
    const { head } = this.context;
    const { dialect } = this;
    const message = rawObject({
      id: asciiJson(head.id),
      type: '"message"',
      role: '"assistant"',
      content: '[]',
      model: asciiJson(head.model),
      stop_reason: 'null',
      stop_sequence: 'null',
      ...unfilledFields(dialect, ['stop_details', 'container', 'diagnostics']),
      usage: messageUsage(this.context, 0, undefined),
    });
    return eventOf('message_start', { message });
  }

  /** Events for tokens `[from, from + count)`. Empty when nothing becomes visible. */
  tokens(from: number, count: number): string {
    return this.advance(from, from + count, false);
  }

  /**
   * The last tokens (count can be 0) and the end of the last block. A message without a block gets
   * an empty one.
   */
  finishSequence(reason: EndReason, from: number, count: number): string {
    this.stop = stopFields(this.context, reason);
    const events = this.advance(from, from + count, true) + this.endBlock();
    if (this.nextBlock > 0) return events;
    return events + this.startBlock(textBlock(this.dialect, '')) + this.endBlock();
  }

  /** The end of the stream, with the stop reason and the usage. */
  finishStream({ cachedTokens }: { readonly cachedTokens?: number } = {}): string {
    const nulls = unfilledFields(this.dialect, ['stop_details', 'container']);
    const delta = rawObject({ ...this.stop, ...nulls });
    const usage = deltaUsage(this.context, this.received, cachedTokens);
    return eventOf('message_delta', { delta, usage }) + eventOf('message_stop', {});
  }

  /** An error after the first byte, as the last event. */
  fail(error: BatonError): string {
    const { body } = renderMessageError(error, this.dialect);
    return `event: error\ndata: ${body}\n\n`;
  }

  private get dialect(): Dialect {
    return this.context.options.dialect;
  }

  private advance(from: number, to: number, isEnd: boolean): string {
    this.received = to;
    let events = '';
    let segment = this.segments[this.current];
    while (segment !== undefined && segment.from < to) {
      const first = Math.max(from, segment.from);
      const last = Math.min(to, segment.to);
      const isOver = isEnd || last === segment.to;
      events += this.enter(segment);
      events += this.show(segment, { first, last, isOver });
      if (!isOver) break;
      events += this.leave(segment, last === segment.to);
      segment = this.segments[this.current];
    }
    return events;
  }

  private enter(segment: Segment): string {
    if (this.text !== undefined) return '';
    const { plan, options } = this.context;
    const { from, to, cut, kind } = segment;
    const run = { tokenIds: plan.tokenIds.subarray(from, to), cut };
    this.text = new VisibleText(options.tokenizer, run, !this.isShown(segment));
    if (kind === 'content') return this.startBlock(textBlock(this.dialect, ''));
    if (kind !== 'reasoning' || !this.isShown(segment)) return '';
    return this.startBlock({ type: 'thinking', thinking: '', signature: '' });
  }

  private show(segment: Segment, { first, last, isOver }: Shown): string {
    const text = this.text?.advance(first - segment.from, last - first, isOver) ?? '';
    const { kind } = segment;
    if (text === '' || kind === 'hidden' || kind === 'call') return '';
    const { type, key } = DELTAS[kind];
    return this.delta(`{"type":"${type}","${key}":"${text}"}`);
  }

  /** A call opens its block with the last token of its name; the arguments follow. */
  private leave(segment: Segment, isWhole: boolean): string {
    this.text = undefined;
    this.current += 1;
    const { kind, name, call } = segment;
    if (kind === 'call' && isWhole) {
      const id = toolUseId(this.context, call);
      return this.startBlock(toolUseBlock(this.dialect, { id, name, input: {} }));
    }
    if (kind === 'reasoning' && this.isShown(segment)) {
      const signed = { type: 'signature_delta', signature: signatureOf(this.context) };
      return this.delta(asciiJson(signed)) + this.endBlock();
    }
    return kind === 'content' || kind === 'arguments' ? this.endBlock() : '';
  }

  private isShown({ kind }: Segment): boolean {
    const hidesReasoning = this.context.request.reasoning?.isShown === false;
    return kind === 'content' || kind === 'arguments' || (kind === 'reasoning' && !hidesReasoning);
  }

  private startBlock(block: object): string {
    const closed = this.endBlock();
    this.isBlockOpen = true;
    const index = String(this.nextBlock);
    return closed + eventOf('content_block_start', { index, content_block: asciiJson(block) });
  }

  private delta(delta: RawJson): string {
    return eventOf('content_block_delta', { index: String(this.nextBlock), delta });
  }

  private endBlock(): string {
    if (!this.isBlockOpen) return '';
    this.isBlockOpen = false;
    const index = String(this.nextBlock);
    this.nextBlock += 1;
    return eventOf('content_block_stop', { index });
  }
}

/** The streamed fields of a segment. A plan without segments is one segment of content. */
type Segment = Pick<PlanSegment, 'kind' | 'from' | 'to' | 'cut' | 'name' | 'call'>;

interface Shown {
  readonly first: number;
  readonly last: number;
  /** Whether the segment is complete. */
  readonly isOver: boolean;
}

const DELTAS = {
  content: { type: 'text_delta', key: 'text' },
  reasoning: { type: 'thinking_delta', key: 'thinking' },
  arguments: { type: 'input_json_delta', key: 'partial_json' },
} as const;

function eventOf(type: string, fields: Readonly<Record<string, RawJson>>): string {
  return `event: ${type}\ndata: ${rawObject({ type: asciiJson(type), ...fields })}\n\n`;
}
