import type { WallClock } from '@baton/clock';
import { type FrameEntry, FrameWriter, type Stage } from '@baton/contract';
import { type Bus, channels } from '@baton/transport';

/** One engine's entries for one API process until the next flush. */
export interface FrameOutbox {
  readonly apiId: string;
  readonly writer: FrameWriter;
  hasEntries: boolean;
  /** Logical end of the step whose entries wait for others. */
  stepEndUs: number | undefined;
  /** Number of runs that can still write entries. */
  users: number;
}

export interface FramesOptions {
  readonly engineId: string;
  readonly stage: Stage;
  readonly bus: Bus;
  readonly wall: WallClock;
}

/** Wall µs that entries without a token may wait to be sent together with others. */
const BATCHING_US = 5_000;

/**
 * One frame per engine step and API process; entries between steps are sent at the end of the turn.
 * The results of a step can be sent before its logical end, and the API keeps them until then. No
 * later frame is stamped with an earlier instant, so the API reads the frames of an engine in the
 * order in which they were sent.
 */
export class Frames {
  private readonly outboxes = new Map<string, FrameOutbox>();
  private readonly filled: FrameOutbox[] = [];
  private isFlushDue = false;
  private isDeferred = false;
  /** Logical end of the last step whose results were sent. */
  private lastStepEndUs = 0;

  constructor(private readonly options: FramesOptions) {}

  /** The instant of what happens now: not before the end of a step whose results were sent. */
  nowUs(): number {
    return Math.max(this.options.wall.nowUs(), this.lastStepEndUs);
  }

  /** The outbox of an API process, kept until it has been `release`d as often as taken. */
  take(apiId: string): FrameOutbox {
    let outbox = this.outboxes.get(apiId);
    if (outbox === undefined) {
      const writer = new FrameWriter(this.options.engineId, this.options.stage);
      outbox = { apiId, writer, hasEntries: false, stepEndUs: undefined, users: 0 };
      this.outboxes.set(apiId, outbox);
    }
    outbox.users += 1;
    return outbox;
  }

  release(outbox: FrameOutbox): void {
    outbox.users -= 1;
    if (outbox.users === 0) this.outboxes.delete(outbox.apiId);
  }

  add(outbox: FrameOutbox, entry: Readonly<FrameEntry>): void {
    if (outbox.writer.isFull) this.publish(outbox, this.nowUs());
    outbox.writer.add(entry);
    if (outbox.hasEntries) return;
    outbox.hasEntries = true;
    this.filled.push(outbox);
  }

  /**
   * The step's entries bring no token, so they wait a few ms for further ones: a prompt that is
   * scheduled and computed in one step is handed over by then.
   */
  defer(stepEndUs: number): void {
    const { wall } = this.options;
    this.lastStepEndUs = stepEndUs;
    for (const outbox of this.filled) outbox.stepEndUs ??= stepEndUs;
    if (this.filled.length === 0 || this.isDeferred) return;
    this.isDeferred = true;
    wall.around(wall.nowUs() + BATCHING_US, () => {
      this.isDeferred = false;
      this.flush(this.nowUs());
    });
  }

  /** For entries that no step flushes. */
  flushSoon(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    this.options.wall.soon(() => {
      this.isFlushDue = false;
      this.flush(this.nowUs());
    });
  }

  /**
   * Sends the entries with tokens of the step that ended at `stepEndUs`, which becomes the instant
   * of all entries.
   */
  flushStep(stepEndUs: number): void {
    this.lastStepEndUs = stepEndUs;
    for (const outbox of this.filled) outbox.stepEndUs = stepEndUs;
    this.flush(stepEndUs);
  }

  private flush(nowUs: number): void {
    for (const outbox of this.filled) {
      outbox.hasEntries = false;
      this.publish(outbox, nowUs);
    }
    this.filled.length = 0;
  }

  private publish(outbox: FrameOutbox, nowUs: number): void {
    const stepEndUs = outbox.stepEndUs ?? nowUs;
    outbox.stepEndUs = undefined;
    this.options.bus.publish(channels.api(outbox.apiId), outbox.writer.take(stepEndUs));
  }
}
