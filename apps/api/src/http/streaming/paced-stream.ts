import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventStream, EVENT_END } from './event-stream';

/**
 * Most characters of one write, because a write copies its characters in one piece; up to twice as
 * many where a write then ends with an event.
 */
const MOST_AT_ONCE = 262_144;
/** Limit of the characters that wait for a client: more than the events of the longest response. */
const MOST_WAITING = 128 * 1024 * 1024;

/**
 * An event stream whose writer does not wait for the client. What the client has not read yet waits
 * here and goes out as the client reads, a part in each turn of the event loop.
 */
export class PacedStream {
  private readonly waiting: string[] = [];
  private length = 0;
  private isSending = false;
  private isOver = false;

  /** @param mostWaiting characters; a client for which more wait is cut off */
  constructor(
    private readonly stream: EventStream,
    private readonly mostWaiting = MOST_WAITING,
  ) {}

  /** @param events whole events, ASCII only */
  write(events: string): void {
    this.waiting.push(events);
    this.length += events.length;
    if (this.length > this.mostWaiting) this.stream.destroy();
    if (!this.isSending) void this.send();
  }

  /** After everything that waits. */
  endStream(): void {
    this.isOver = true;
    if (!this.isSending) this.stream.endStream('');
  }

  private async send(): Promise<void> {
    this.isSending = true;
    for (let events = this.waiting.shift(); events !== undefined; events = this.waiting.shift()) {
      await this.sendParts(events);
    }
    this.isSending = false;
    if (this.isOver) this.stream.endStream('');
  }

  private async sendParts(events: string): Promise<void> {
    let from = 0;
    while (from < events.length) {
      const to = Math.min(partEnd(events, from), from + 2 * MOST_AT_ONCE);
      await this.sendPart(events.slice(from, to));
      from = to;
    }
  }

  private async sendPart(part: string): Promise<void> {
    this.length -= part.length;
    this.stream.write(part);
    await this.stream.drained();
    if (this.length > 0) await nextTurn();
  }
}

/**
 * The end of the part that begins at `from`. A part has whole events, so a long event makes a long
 * part.
 */
export function partEnd(events: string, from: number): number {
  const end = events.indexOf(EVENT_END, from + MOST_AT_ONCE);
  return end === -1 ? events.length : end + EVENT_END.length;
}
