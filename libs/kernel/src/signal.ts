/** Wakes the current waiters; a `fire` without a waiter has no effect. */
export class Signal {
  private release: () => void = () => undefined;
  private promise: Promise<void> | undefined;

  wait(): Promise<void> {
    this.promise ??= new Promise((resolve) => (this.release = resolve));
    return this.promise;
  }

  fire(): void {
    this.promise = undefined;
    this.release();
  }
}
