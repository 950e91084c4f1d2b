import { type Micros, Tournament } from '@baton/kernel';

/** A consumer of a shared queue. */
export interface QueueTaker {
  readonly index: number;
  /** The turn in which it last took a request, or joined. */
  lastTurn: number;
  /** Set once it was found full; notified before something happens to the taker. */
  passedOverBy: TakingOrder<this> | undefined;
  /** From true to false as time passes; back only when something happens to the taker. */
  hasRoom(nowUs: Micros): boolean;
}

/**
 * Decides which engine takes next from a shared queue: of those with room, the one whose last take,
 * or join, was longest ago. A full engine is skipped until something happens to it, so a choice
 * costs log2(engines), however many are full.
 */
export class TakingOrder<T extends QueueTaker> {
  /** Engines by the turn of their last take; full ones have no key. */
  private readonly turns = new Tournament();
  private readonly takers: T[] = [];
  private turn = 0;

  add(taker: T): void {
    this.takers[taker.index] = taker;
    this.took(taker);
  }

  remove(taker: T): void {
    taker.passedOverBy = undefined;
    this.turns.set(taker.index, Infinity);
  }

  /** Moves it to the end. */
  took(taker: T): void {
    taker.lastTurn = this.turn++;
    this.onChange(taker);
  }

  /** Something happens to the taker, so it may have room. */
  onChange(taker: T): void {
    taker.passedOverBy = undefined;
    this.turns.set(taker.index, taker.lastTurn);
  }

  /** Undefined when none has room. */
  next(nowUs: Micros): T | undefined {
    while (this.turns.firstKey < Infinity) {
      const taker = this.takers[this.turns.first]!;
      if (taker.hasRoom(nowUs)) return taker;
      taker.passedOverBy = this;
      this.turns.set(taker.index, Infinity);
    }
    return undefined;
  }
}
