/**
 * Objects that are used again: as many as were ever out at one time. A caller that gives one back
 * keeps no reference to it.
 */
export class Pool<T> {
  private readonly free: T[] = [];
  private count = 0;

  /** Undefined when all are out: then make one. */
  take(): T | undefined {
    return this.count === 0 ? undefined : this.free[--this.count];
  }

  give(object: T): void {
    this.free[this.count++] = object;
  }
}
