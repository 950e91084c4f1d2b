import { EventQueue, type Micros } from '@baton/kernel';
import type { Workload } from '@baton/workload';

const NO_ROW = -1;

/**
 * The next request and its instant: rows in their order, turns of a conversation a pause after the
 * turn before, and never more under way than the clients' concurrency allows.
 */
export class Arrivals {
  private nextRow = 0;
  private underWay = 0;
  /** Turns whose former turn has ended; unused without conversations. */
  private readonly turns: EventQueue | undefined;
  /** By row: the first turn that waits for it, and the next one that waits for the same. */
  private readonly firstTurn = new Int32Array(0);
  private readonly otherTurn = new Int32Array(0);

  constructor(
    private readonly workload: Workload,
    private readonly maxConcurrency: number,
  ) {
    const { after, count, arrivalUs } = workload;
    if (after.length === 0) return;
    this.turns = new EventQueue();
    this.firstTurn = new Int32Array(count).fill(NO_ROW);
    this.otherTurn = new Int32Array(count).fill(NO_ROW);
    for (let row = count - 1; row >= 0; row--) {
      const former = after[row]!;
      if (former < 0) continue;
      this.otherTurn[row] = this.firstTurn[former]!;
      this.firstTurn[former] = row;
    }
    for (let row = 0; row < count; row++) {
      if (after[row]! < 0) this.turns.push(arrivalUs[row]!, 0, row);
    }
  }

  /**
   * When the next request comes, not before `nowUs`; Infinity when none does, or none before one
   * ends.
   */
  nextUs(nowUs: Micros): Micros {
    if (this.underWay >= this.maxConcurrency) return Infinity;
    if (this.turns !== undefined) return Math.max(nowUs, this.turns.peekTimeUs());
    const { arrivalUs, count } = this.workload;
    return this.nextRow < count ? Math.max(nowUs, arrivalUs[this.nextRow]!) : Infinity;
  }

  /** The row that comes now. */
  take(): number {
    this.underWay++;
    return this.turns === undefined ? this.nextRow++ : this.turns.pop();
  }

  /** A request has ended, however: its client may send another one. */
  ended(row: number, nowUs: Micros): void {
    this.underWay--;
    if (this.turns === undefined) return;
    for (let turn = this.firstTurn[row]!; turn !== NO_ROW; turn = this.otherTurn[turn]!) {
      this.turns.push(nowUs + this.workload.arrivalUs[turn]!, 0, turn);
    }
  }
}
