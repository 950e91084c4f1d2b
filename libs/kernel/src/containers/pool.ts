/**
 * Reusable objects, as many as were ever in use at once. A caller that returns one must not keep a
 * reference to it.
 */
export class Pool<T> {
  private readonly free: T[] = [];
  private count = 0;

  /** Undefined when all are in use; the caller then makes a new one. */
  take(): T | undefined {
    return this.count === 0 ? undefined : this.free[--this.count];
  }

  give(object: T): void {
    this.free[this.count++] = object;
  }
}
