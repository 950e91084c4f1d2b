import { SystemWallClock, type WallClock } from '@baton/clock';
import type { FrameHeader } from '@baton/contract';
import { Chain } from '@baton/kernel';
import type { Logger } from '@baton/telemetry';
import type { Observers } from '../observers/port/observers';
import type { WriteCounts } from '../observers/port/state';
import type { SequenceOwner } from './sequence';

/**
 * How long one turn of the event loop may write, µs; a write that has begun is completed. libuv
 * accepts one connection per turn and port (libuv pull request 3696), so this bounds how many new
 * connections come in while tokens are written: at 1 ms several hundred per second.
 */
const TURN_US = 1_000;

/** Frames whose delay is measured at once; further ones are not measured. */
const MAX_MEASURED_FRAMES = 1_024;

type Turns = Pick<WallClock, 'nowUs' | 'soon'>;

interface UnwrittenFrame {
  readonly header: FrameHeader;
  /** Written when this many owners have been. */
  readonly after: number;
}

/**
 * Takes turns between writing tokens and all else: a frame for few streams is written at once; the
 * rest of a large one follows in the next turns of the event loop. A stream that waits for its
 * turn keeps its place, gathers the tokens of further frames and writes them all at once, so
 * streams take turns fairly and frames do not pile up: at most one write per stream waits.
 */
export class WriteTurns implements WriteCounts {
  writes = 0;
  lateWrites = 0;
  private readonly due = new Chain<SequenceOwner>();
  private readonly frames: UnwrittenFrame[] = [];
  private added = 0;
  /** What this turn may still use. */
  private leftUs = TURN_US;
  private isTurnAwaited = false;

  constructor(
    private readonly logger: Logger,
    private readonly observers: Observers,
    private readonly clock: Turns = new SystemWallClock(),
  ) {}

  /** The owner has something to write. */
  add(owner: SequenceOwner): void {
    if (owner.chain !== undefined) return;
    this.due.append(owner);
    this.added += 1;
  }

  /** A whole frame is read. `header`: that of its tokens; undefined when it brought none. */
  frameRead(header: FrameHeader | undefined): void {
    if (header !== undefined && this.frames.length < MAX_MEASURED_FRAMES) {
      this.frames.push({ header, after: this.added });
    }
    if (this.due.first !== undefined) this.write();
  }

  private write(): void {
    const { due, clock } = this;
    const startUs = clock.nowUs();
    let usedUs = 0;
    for (let next = due.first; next !== undefined && usedUs < this.leftUs; next = due.first) {
      due.remove(next);
      this.flush(next);
      usedUs = clock.nowUs() - startUs;
    }
    this.leftUs -= usedUs;
    this.noteWritten();
    if (this.isTurnAwaited) return;
    this.isTurnAwaited = true;
    clock.soon(this.nextTurn);
  }

  private readonly nextTurn = (): void => {
    this.isTurnAwaited = false;
    this.leftUs = TURN_US;
    if (this.due.first === undefined) return;
    const before = this.writes;
    this.write();
    this.lateWrites += this.writes - before;
  };

  /** An answer that cannot be written must not fail the others. */
  private flush(owner: SequenceOwner): void {
    this.writes += 1;
    try {
      owner.flush();
    } catch (error) {
      this.logger.error({ err: error }, 'answer not written');
      owner.onBroken();
    }
  }

  private noteWritten(): void {
    const { frames, writes } = this;
    for (let next = frames[0]; next !== undefined && next.after <= writes; next = frames[0]) {
      frames.shift();
      this.observers.written(next.header);
    }
  }
}
