/**
 * Values, first in first out: a ring in one array that doubles when it is full. The first key of a
 * `Map` or `Set` is not such a queue: V8 searches it among the places of deleted entries.
 */
export class Fifo<T> {
  private slots: (T | undefined)[] = new Array<T | undefined>(16).fill(undefined);
  private head = 0;
  length = 0;

  push(value: T): void {
    if (this.length === this.slots.length) this.grow();
    this.slots[(this.head + this.length) & (this.slots.length - 1)] = value;
    this.length += 1;
  }

  /** The oldest value; undefined when there is none. */
  peek(): T | undefined {
    return this.slots[this.head];
  }

  /** Removes the oldest value. */
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const value = this.slots[this.head];
    this.slots[this.head] = undefined;
    this.head = (this.head + 1) & (this.slots.length - 1);
    this.length -= 1;
    return value;
  }

  private grow(): void {
    const { slots, head } = this;
    const room = new Array<T | undefined>(slots.length).fill(undefined);
    this.slots = [...slots.slice(head), ...slots.slice(0, head), ...room];
    this.head = 0;
  }
}
