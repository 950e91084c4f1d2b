import type { Alarm, WallClock } from '@baton/clock';
import { frameDueUs } from '@baton/contract';

interface DueFrame {
  readonly dueUs: number;
  readonly frame: Buffer;
}

/**
 * Keeps the results of steps that engines send before the logical end of the step, and passes each
 * frame on at that end. All other frames pass at once, and so does everything that is late. One
 * alarm serves all frames. A frame waits at most `leadUs` of wall time, so that the clock of
 * another host that is ahead delays its frames only by that; frames of one engine stay in order,
 * because their instants never decrease.
 */
export class DueFrames {
  /** In order of time; equal ones in order of arrival. */
  private readonly waiting: DueFrame[] = [];
  /** Work that begins after the next frame. */
  private readonly held: (() => void)[] = [];
  private alarm: Alarm | undefined;
  private alarmUs = Infinity;

  constructor(
    private readonly wall: WallClock,
    private readonly leadUs: number,
    private readonly pass: (frame: Buffer) => void,
  ) {}

  readonly take = (frame: Buffer): void => {
    const nowUs = this.wall.nowUs();
    const dueUs = Math.min(frameDueUs(frame), nowUs + this.leadUs);
    if (dueUs > nowUs) this.keep({ dueUs, frame });
    else this.passAt(nowUs, frame);
  };

  /**
   * Work of `workUs` that began now would delay a frame that is due before its end. Resolves when
   * the next frame has passed; undefined when no frame is due in that time. One frame is enough:
   * on an API of many engines, one is always due soon.
   */
  nextBefore(workUs: number): Promise<void> | undefined {
    const [first] = this.waiting;
    if (first === undefined || first.dueUs - this.wall.nowUs() > workUs) return undefined;
    return new Promise((resolve) => this.held.push(resolve));
  }

  /** Passes the rest on at once. */
  stop(): void {
    this.passUpTo(Infinity);
  }

  /** A frame that is due passes behind those that are due before it. */
  private passAt(nowUs: number, frame: Buffer): void {
    if (this.waiting.length > 0) this.passUpTo(nowUs);
    this.pass(frame);
  }

  private keep(due: DueFrame): void {
    const { waiting } = this;
    let at = waiting.length;
    while (at > 0 && waiting[at - 1]!.dueUs > due.dueUs) at -= 1;
    waiting.splice(at, 0, due);
    this.arm();
  }

  private arm(): void {
    const [first] = this.waiting;
    const dueUs = first?.dueUs ?? Infinity;
    if (dueUs === this.alarmUs) return;
    this.alarm?.cancel();
    this.alarmUs = dueUs;
    this.alarm = first && this.wall.at(dueUs, this.ring);
  }

  private readonly ring = (): void => {
    this.alarmUs = Infinity;
    this.passUpTo(this.wall.nowUs());
  };

  private passUpTo(nowUs: number): void {
    const { waiting } = this;
    while (waiting[0] !== undefined && waiting[0].dueUs <= nowUs) this.pass(waiting.shift()!.frame);
    this.arm();
    for (const begin of this.held.splice(0)) begin();
  }
}
