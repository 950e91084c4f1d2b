const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DATA = Buffer.from('data:');
/** A longer line means that this is not an event stream. */
const LONGEST_LINE = 1 << 22;

/** The bytes of one event lie in `bytes` from `from` to below `to`. */
export type OnEvent = (bytes: Buffer, from: number, to: number) => void;

/**
 * Finds the `data:` lines of a server-sent event stream, for any cut of its bytes. Comments,
 * `event:` and `id:` lines are skipped. It copies only a line that two reads share.
 */
export class EventSplitter {
  private rest: Buffer | undefined;

  constructor(private readonly onEvent: OnEvent) {}

  /** Returns false for a line without an end: the input is not an event stream. */
  push(chunk: Buffer): boolean {
    const bytes = this.rest === undefined ? chunk : Buffer.concat([this.rest, chunk]);
    let from = 0;
    for (let to = bytes.indexOf(LINE_FEED); to !== -1; to = bytes.indexOf(LINE_FEED, from)) {
      this.line(bytes, from, to);
      from = to + 1;
    }
    this.rest = from < bytes.length ? bytes.subarray(from) : undefined;
    return bytes.length - from <= LONGEST_LINE;
  }

  /** The last line can end without a line feed. */
  endStream(): void {
    const last = this.rest;
    this.rest = undefined;
    if (last !== undefined) this.line(last, 0, last.length);
  }

  private line(bytes: Buffer, lineStart: number, lineEnd: number): void {
    const to = bytes[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd;
    let from = lineStart + DATA.length;
    if (to < from || !isData(bytes, lineStart)) return;
    if (bytes[from] === SPACE) from += 1;
    if (from < to) this.onEvent(bytes, from, to);
  }
}

function isData(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < DATA.length; i++) if (bytes[at + i] !== DATA[i]) return false;
  return true;
}
