import { Fifo } from './containers/fifo';
import { workSpent } from './work-meter';

/**
 * Owns the work that pieces of several requests may do in one turn of the event loop, in units of
 * `spendWork`. A piece begins while some of it is left, and the others wait in order for a later
 * turn, so that requests that arrive together do not add up. A piece itself is never interrupted.
 * No more pieces wait than requests are under way, which the connections bound.
 */
export class TurnShare {
  private spent = 0;
  private isRenewing = false;
  private readonly waiting = new Fifo<() => void>();

  /**
   * @param most units of one turn @param inNextTurn calls a function at the start of the next turn;
   * an immediate would come at the end of the present one
   */
  constructor(
    private readonly most: number,
    private readonly inNextTurn: (call: () => void) => void,
  ) {}

  /** Runs a piece, at once if it need not wait. */
  async take<Result>(piece: () => Result): Promise<Result> {
    if (this.spent >= this.most || this.waiting.length > 0) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    const before = workSpent();
    try {
      return piece();
    } finally {
      this.spent += workSpent() - before;
      if (this.spent > 0 || this.waiting.length > 0) this.advance();
    }
  }

  private advance(): void {
    if (this.spent < this.most) this.waiting.shift()?.();
    if (this.isRenewing) return;
    this.isRenewing = true;
    this.inNextTurn(() => this.renew());
  }

  private renew(): void {
    this.isRenewing = false;
    this.spent = 0;
    this.waiting.shift()?.();
  }
}
