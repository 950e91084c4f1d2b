import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Work that several callers can request at once. One piece runs at a time and begins in its own
 * turn of the event loop. Callers that request it before it begins share its result.
 */
export class SharedWork<Key, Result> {
  private readonly waiting = new Map<Key, Promise<Result>>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly work: (key: Key) => Promise<Result>) {}

  resultFor(key: Key): Promise<Result> {
    const waiting = this.waiting.get(key);
    if (waiting !== undefined) return waiting;
    const result = this.inTurn(key, this.last);
    this.waiting.set(key, result);
    this.last = result.catch(() => undefined);
    return result;
  }

  private async inTurn(key: Key, before: Promise<unknown>): Promise<Result> {
    await before;
    await nextTurn();
    this.waiting.delete(key);
    return this.work(key);
  }
}
