import type { BatonError, EndReason } from '@baton/contract';
import { VisibleText } from '@baton/openai';
import { rawArray } from '@baton/text';
import { type OutputPart, outputParts, logprobEntries } from './response-context';
import { errorEvent, responseFailure } from './response-error';
import { type OutputItem, ResponseEvents } from './response-events';
import { isOpened, itemOf, type ResponseObject } from './response-object';
import type { ResponseOutcome } from './response-outcome';
import { joinedPieces } from './score-lists';

/** Most characters of one write: a write copies them at once. */
const MOST_AT_ONCE = 262_144;

/**
 * A response as a stream of named events, in ASCII. It tracks the open item and the shown part of
 * its text. Tokens come in order and without repeats. Every returned string consists of whole
 * events, unless the end is long: it comes in pieces, of which the last ends an event.
 */
export class StreamedResponse {
  /** The response's one sequence. */
  readonly sequences: readonly [this];
  private readonly events: ResponseEvents;
  private readonly parts: readonly OutputPart[];
  private current = 0;
  /** Visible text of the open item. */
  private text: VisibleText | undefined;
  private opened: OutputItem | undefined;
  private received = 0;
  private reason: EndReason = 'stop';
  /** Pieces of a long end. */
  private readonly late: string[] = [];
  /** The last event; empty when it is kept back. */
  private end: string | undefined;

  /** @param outcome the response; this class records the lengths of the deltas in it */
  constructor(private readonly outcome: ResponseOutcome) {
    this.sequences = [this];
    this.events = new ResponseEvents(outcome.context.options.reasoningEvents);
    this.parts = outputParts(outcome.context);
  }

  /** The first event of a background response. */
  queued(): string {
    return this.events.queued(this.outcome.queued());
  }

  /** The opening events. Sent once, with the first token. */
  open(): string {
    return this.events.begin(this.outcome.started());
  }

  /**
   * Events for tokens `[from, from + count)`. Empty when nothing becomes visible. After a long end:
   * the next of its pieces.
   */
  tokens(from: number, count: number): string {
    return this.takeLate() ?? this.advance(from, from + count, undefined).join('');
  }

  /**
   * The last tokens (count may be 0) and the end of the last item. A long end is kept back;
   * `tokens` sends it in pieces, then `finishStream`.
   */
  finishSequence(reason: EndReason, from: number, count: number): string {
    this.reason = reason;
    const events = this.advance(from, from + count, reason);
    const pieces = events.flatMap((event) => this.outcome.scores.piecesOf(event));
    if (lengthOf(pieces) <= MOST_AT_ONCE) return pieces.join('');
    this.late.push(...pieces);
    return '';
  }

  /** Whether a long end is kept back. */
  get isLate(): boolean {
    return this.late.length > 0;
  }

  /** Makes the last event. A long one is kept back for `tokens`, in pieces. */
  keepEnd({ cachedTokens = 0 }: { readonly cachedTokens?: number } = {}): void {
    const { reason, received: count } = this;
    const response = this.outcome.endResponse({ reason, count, cachedTokens });
    const pieces = this.endPieces(response);
    if (lengthOf(pieces) > MOST_AT_ONCE) this.late.push(...pieces.splice(0));
    this.end = joinedPieces(pieces);
  }

  /** The whole response once more, and the end of the stream. */
  finishStream(facts: { readonly cachedTokens?: number } = {}): string {
    if (this.end === undefined) this.keepEnd(facts);
    return joinedPieces(this.late.splice(0)) + this.end;
  }

  /** A failure after the first byte. Open items stay incomplete. */
  fail(error: BatonError): string {
    const begun = this.events.hasBegun ? '' : this.open();
    const failed = errorEvent(responseFailure(error), this.events.take());
    return begun + failed + joinedPieces(this.endPieces(this.outcome.failed(error)));
  }

  private endPieces(response: ResponseObject): string[] {
    const event = this.events.endResponse(response.status, this.outcome.marked(response));
    return this.outcome.scores.piecesOf(event);
  }

  /** The next piece of a long end; undefined without one. */
  private takeLate(): string | undefined {
    const [piece] = this.late;
    if (piece === undefined || piece.length <= MOST_AT_ONCE) return this.late.shift();
    this.late[0] = piece.slice(MOST_AT_ONCE);
    return piece.slice(0, MOST_AT_ONCE);
  }

  private advance(from: number, to: number, end: EndReason | undefined): string[] {
    this.received = to;
    this.outcome.noteTokens(to);
    const events: string[] = [];
    for (let part = this.parts[this.current]; part !== undefined; part = this.parts[this.current]) {
      if (this.text === undefined && !isOpened(part, to)) break;
      if (this.text === undefined) events.push(this.enter(part));
      const isWhole = to >= (part.text?.to ?? part.opening.to);
      events.push(this.show(part, { from, to, isOver: isWhole || end !== undefined }));
      // The end of the last item is part of the response's end.
      const isLast = this.current + 1 === this.parts.length;
      if (end === undefined && (!isWhole || isLast)) break;
      events.push(...this.leave(part, this.statusOf(part, isWhole, end)));
    }
    return events;
  }

  /** Status of an item. Only the last item can be incomplete. */
  private statusOf(part: OutputPart, isWhole: boolean, end: EndReason | undefined): string {
    const next = this.parts[this.parts.indexOf(part) + 1];
    const isFollowed = next !== undefined && isOpened(next, this.received);
    const isCut = end !== undefined && end !== 'stop' && !isFollowed;
    return isWhole && !isCut ? 'completed' : 'incomplete';
  }

  private enter(part: OutputPart): string {
    const { plan, options } = this.outcome.context;
    const { text } = part;
    const tokenIds = plan.tokenIds.subarray(text?.from ?? 0, text?.to ?? 0);
    this.text = new VisibleText(options.tokenizer, { tokenIds, cut: text?.cut }, false);
    this.opened = this.item(part, 0, 'in_progress');
    return this.events.added(this.opened, this.current);
  }

  private show(
    part: OutputPart,
    span: { readonly from: number; readonly to: number; readonly isOver: boolean },
  ): string {
    const { text: segment } = part;
    if (segment === undefined || this.text === undefined) return '';
    const first = Math.max(span.from, segment.from);
    const last = Math.max(first, Math.min(span.to, segment.to));
    const text = this.text.advance(first - segment.from, last - first, span.isOver);
    const scores = logprobEntries(this.outcome.context, part, { from: first, to: last });
    this.outcome.scores.add(this.current, scores);
    if (text === '') return '';
    this.outcome.noteDelta(this.current, text);
    return this.events.delta(this.opened!, this.current, { text, logprobs: rawArray(scores) });
  }

  private leave(part: OutputPart, status: string): string[] {
    const item = this.item(part, this.received, status);
    const scores = this.outcome.scores.markedListOf(this.current);
    const events = this.events.done(item, this.current, scores);
    this.text = undefined;
    this.current += 1;
    return events;
  }

  private item(part: OutputPart, count: number, status: string): OutputItem {
    return itemOf(this.outcome.context, part, { count, status });
  }
}

/** The events of a response under way. */
export interface ResponseStream extends Pick<
  StreamedResponse,
  'queued' | 'open' | 'finishStream' | 'fail'
> {
  /** Its only sequence. */
  readonly sequences: readonly [Pick<StreamedResponse, 'tokens' | 'finishSequence'>];
}

function lengthOf(pieces: readonly string[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
