/**
 * Collects items until they are taken. There are nearly always zero, one or two, so they are
 * returned in an array of exactly that length, which belongs to the caller; an array grown by
 * pushing would have room for seventeen.
 */
export class Outbox<A> {
  private actions: A[] = [];
  private count = 0;

  push(action: A): void {
    this.actions[this.count++] = action;
  }

  some(predicate: (action: A) => boolean): boolean {
    return this.actions.slice(0, this.count).some(predicate);
  }

  /** The items that were pushed since the last call. */
  take(): readonly A[] {
    const { actions, count } = this;
    this.count = 0;
    if (count === 0) return NOTHING;
    if (count === 1) return [actions[0]!];
    if (count === 2) return [actions[0]!, actions[1]!];
    this.actions = [];
    return actions.slice(0, count);
  }
}

const NOTHING: readonly never[] = [];
