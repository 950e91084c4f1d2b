import { Fifo, workSpent } from '@baton/kernel';

/**
 * Owns the work that pieces of several requests may do in one turn of the event loop, in steps. A
 * piece begins while some of it is left, and the others wait in order for a later turn, so that
 * requests that arrive together do not add up. A piece itself is never interrupted. No more pieces
 * wait than requests are under way, which the connections bound.
 */
export class TurnShare {
  private spent = 0;
  private isRenewing = false;
  private readonly waiting = new Fifo<() => void>();

  constructor(private readonly most: number) {}

  /** Runs a piece, at once if it need not wait. */
  async take<Result>(piece: () => Result): Promise<Result> {
    if (this.spent >= this.most || this.waiting.length > 0) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    const before = workSpent();
    try {
      return piece();
    } finally {
      this.count(workSpent() - before);
    }
  }

  private count(work: number): void {
    this.spent += work;
    if (this.spent < this.most) this.wake();
    if (this.isRenewing) return;
    this.isRenewing = true;
    // At the start of the next turn: an immediate would come at the end of the present one.
    setTimeout(() => this.renew(), 0);
  }

  private renew(): void {
    this.isRenewing = false;
    this.spent = 0;
    this.wake();
  }

  private wake(): void {
    this.waiting.shift()?.();
  }
}
