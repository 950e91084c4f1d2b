import { type Micros, Tournament } from '@baton/kernel';

/** A consumer of a shared queue. */
export interface QueueTaker {
  readonly index: number;
  /** Whether it has nothing to do. Call `takesIn` when that changes. */
  readonly isIdle: boolean;
  /** The turn of its last take, or of its joining. */
  lastTurn: number;
  /** Undefined: it takes requests from no queue. */
  takesIn: TakingOrder<this> | undefined;
  /** Whether the last check found it full. If so, call `takesIn` before anything happens to it. */
  isPassedOver: boolean;
  /**
   * Whether the taker has room. Time alone turns it from true to false; only an event at the taker
   * turns it back.
   */
  hasRoom(nowUs: Micros): boolean;
}

/**
 * Which engine takes next from a shared queue. Of the engines with room, an idle one comes before a
 * busy one, and then the engine that took a job, or joined, longest ago. A full engine is skipped
 * until its state changes, so a choice costs log2(engines), however many are full.
 */
export class TakingOrder<T extends QueueTaker> {
  /** Engines, idle ones first, by the turn of their last take; full ones have no key. */
  private readonly turns = new Tournament();
  private readonly takers: T[] = [];
  private turn = 0;

  add(taker: T): void {
    this.takers[taker.index] = taker;
    taker.takesIn = this;
    this.moveToEnd(taker);
  }

  remove(taker: T): void {
    taker.takesIn = undefined;
    taker.isPassedOver = false;
    this.turns.set(taker.index, Infinity);
  }

  /** Moves it to the end. */
  moveToEnd(taker: T): void {
    taker.lastTurn = this.turn++;
    this.onChange(taker);
  }

  /** Call it after an event of the taker that can give it room or make it idle or busy. */
  onChange(taker: T): void {
    taker.isPassedOver = false;
    this.turns.set(taker.index, taker.isIdle ? 0 : 1, taker.lastTurn);
  }

  /** Undefined when none has room. */
  next(nowUs: Micros): T | undefined {
    while (this.turns.firstKey < Infinity) {
      const taker = this.takers[this.turns.first]!;
      if (taker.hasRoom(nowUs)) return taker;
      taker.isPassedOver = true;
      this.turns.set(taker.index, Infinity);
    }
    return undefined;
  }
}
