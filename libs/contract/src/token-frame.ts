import { assert } from '@baton/kernel';
import type { Epoch } from './epoch';
import type { EndReason, Stage } from './job';

/**
 * A token frame: everything of one engine step for one API process, in one binary message. Little
 * endian.
 *
 *   header u8 version, u8 stage, u16 entries, f64 logical end of the step (µs since the Unix
 *   epoch), u8 length + engine id (ascii) entry u32 streamId, f64 epoch, u8 kind, u8 reason, u16
 *   offsetUs, u32 first, u32 count, u32 extra, u32 tail bytes, tail
 *
 * `tail` is JSON, absent (0 bytes) for simulated tokens: they are a function of the request, which
 * the API computes itself, so a frame carries their index and count. Executed stages put the tokens
 * there.
 */
export type FrameEntryKind = 'scheduled' | 'tokens' | 'handed-over' | 'end' | 'restarted' | 'fault';

const KINDS: readonly FrameEntryKind[] = [
  'scheduled',
  'tokens',
  'handed-over',
  'end',
  'restarted',
  'fault',
];
const REASONS: readonly (EndReason | 'none')[] = [
  'none',
  'stop',
  'length',
  'abort',
  'error',
  'cache_threshold',
];
const FRAME_STAGES: readonly Stage[] = ['prefill', 'decode', 'aggregated'];
const VERSION = 1;
const ENTRY_BYTES = 32;
const MAX_ENTRIES = 0xffff;

/** One entry, reused by the reader between calls of the visitor: copy what you keep. */
export interface FrameEntry {
  /** The API's handle of the sequence. */
  streamId: number;
  epoch: Epoch;
  /**
   * `scheduled` first entered a batch of this stage (`extra`: prompt tokens found in the local
   * prefix cache; `count`: tokens that came over a transfer; `first`: length of the step, µs);
   * `tokens` generated; `handed-over` prefill is done and decode has the job (`first`: µs from the
   * request's arrival until its prompt was held, both on the wall clock); `end` terminal;
   * `restarted` the run began again from token `first`; `fault` an injected fault was carried out
   * (`tail`: `FaultNote`).
   */
  kind: FrameEntryKind;
  reason: EndReason | 'none';
  /** µs after the step's end at which this token appears (seeded jitter), 0 to 65,535. */
  offsetUs: number;
  /** Index of the first token; for `end` the total number of tokens. */
  first: number;
  /**
   * Number of tokens; for `end` those of the last step, so that the last token and the end travel
   * together.
   */
  count: number;
  extra: number;
  /**
   * JSON of an executed stage's tokens, of a held prefill's kv_transfer_params, or of an error
   * code; else undefined.
   */
  tail: string | undefined;
}

export interface FrameHeader {
  readonly engineId: string;
  readonly stage: Stage;
  readonly stepEndUs: number;
}

/**
 * Builds frames in one growing buffer; `take()` copies the finished frame out and starts the next.
 */
export class FrameWriter {
  private buffer = Buffer.allocUnsafe(4096);
  private at = 0;
  private entries = 0;
  private readonly headerBytes: number;

  constructor(
    private readonly engineId: string,
    private readonly stage: Stage,
  ) {
    assert(engineId.length <= 255, 'an engine id fits one length byte');
    this.headerBytes = 13 + engineId.length;
    this.at = this.headerBytes;
  }

  get isEmpty(): boolean {
    return this.entries === 0;
  }

  /**
   * True when another entry would not fit in the count field: take the frame and continue in a new
   * one.
   */
  get isFull(): boolean {
    return this.entries === MAX_ENTRIES;
  }

  add(entry: Readonly<FrameEntry>): void {
    const tailBytes = entry.tail === undefined ? 0 : Buffer.byteLength(entry.tail);
    this.grow(ENTRY_BYTES + tailBytes);
    const b = this.buffer;
    let at = this.at;
    b.writeUInt32LE(entry.streamId, at);
    b.writeDoubleLE(entry.epoch, at + 4);
    b[at + 12] = KINDS.indexOf(entry.kind);
    b[at + 13] = REASONS.indexOf(entry.reason);
    b.writeUInt16LE(entry.offsetUs, at + 14);
    b.writeUInt32LE(entry.first, at + 16);
    b.writeUInt32LE(entry.count, at + 20);
    b.writeUInt32LE(entry.extra, at + 24);
    b.writeUInt32LE(tailBytes, at + 28);
    at += ENTRY_BYTES;
    if (entry.tail !== undefined) at += b.write(entry.tail, at);
    this.at = at;
    this.entries += 1;
  }

  take(stepEndUs: number): Buffer {
    const b = this.buffer;
    b[0] = VERSION;
    b[1] = FRAME_STAGES.indexOf(this.stage);
    b.writeUInt16LE(this.entries, 2);
    b.writeDoubleLE(stepEndUs, 4);
    b[12] = this.engineId.length;
    b.write(this.engineId, 13, 'latin1');
    const frame = Buffer.from(b.subarray(0, this.at));
    this.at = this.headerBytes;
    this.entries = 0;
    return frame;
  }

  private grow(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
}

/**
 * Reads a frame, calling `visit` once per entry with one reused object. A frame of another version
 * or cut short is refused with false.
 */
export function readFrame(
  frame: Buffer,
  visit: (entry: FrameEntry, header: FrameHeader) => void,
): boolean {
  if (frame.length < 13 || frame[0] !== VERSION) return false;
  const entries = frame.readUInt16LE(2);
  const idBytes = frame[12] ?? 0;
  const header: FrameHeader = {
    engineId: frame.toString('latin1', 13, 13 + idBytes),
    stage: FRAME_STAGES[frame[1] ?? 0] ?? 'decode',
    stepEndUs: frame.readDoubleLE(4),
  };
  const entry = emptyFrameEntry();
  let at = 13 + idBytes;
  for (let i = 0; i < entries; i += 1) {
    if (at + ENTRY_BYTES > frame.length) return false;
    const tailBytes = readEntry(frame, at, entry);
    at += ENTRY_BYTES + tailBytes;
    if (at > frame.length) return false;
    visit(entry, header);
  }
  return true;
}

/** The logical end of the step in a frame, the instant at which it is due; 0 when cut short. */
export function frameDueUs(frame: Buffer): number {
  return frame.length < 13 ? 0 : frame.readDoubleLE(4);
}

export function emptyFrameEntry(): FrameEntry {
  return {
    streamId: 0,
    epoch: 0,
    kind: 'tokens',
    reason: 'none',
    offsetUs: 0,
    first: 0,
    count: 0,
    extra: 0,
    tail: undefined,
  };
}

function readEntry(frame: Buffer, at: number, entry: FrameEntry): number {
  entry.streamId = frame.readUInt32LE(at);
  entry.epoch = frame.readDoubleLE(at + 4);
  entry.kind = KINDS[frame[at + 12] ?? 0] ?? 'tokens';
  entry.reason = REASONS[frame[at + 13] ?? 0] ?? 'none';
  entry.offsetUs = frame.readUInt16LE(at + 14);
  entry.first = frame.readUInt32LE(at + 16);
  entry.count = frame.readUInt32LE(at + 20);
  entry.extra = frame.readUInt32LE(at + 24);
  const tailBytes = frame.readUInt32LE(at + 28);
  entry.tail =
    tailBytes === 0
      ? undefined
      : frame.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + tailBytes);
  return tailBytes;
}
