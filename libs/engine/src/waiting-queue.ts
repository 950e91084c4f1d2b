import type { Sequence } from './sequence';

/**
 * Sequences in scheduling order: by priority where the policy says so, then by submission. A preempted one or one whose KV has arrived
 * goes back to its old place. The usual append and shift are O(1).
 */
export class WaitingQueue {
  private items: (Sequence | undefined)[] = [];
  private head = 0;

  constructor(private readonly byPriority: boolean) {}

  get size(): number {
    return this.items.length - this.head;
  }

  peek(): Sequence | undefined {
    return this.items[this.head];
  }

  add(sequence: Sequence): void {
    let at = this.items.length;
    while (at > this.head && this.isBefore(sequence, this.items[at - 1]!)) at -= 1;
    if (at === this.items.length) this.items.push(sequence);
    else this.items.splice(at, 0, sequence);
  }

  shift(): void {
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head > 1024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
  }

  remove(sequence: Sequence): void {
    const at = this.items.indexOf(sequence, this.head);
    if (at === this.head) this.shift();
    else if (at > this.head) this.items.splice(at, 1);
  }

  forEach(visit: (sequence: Sequence) => void): void {
    for (let at = this.head; at < this.items.length; at += 1) {
      const sequence = this.items[at];
      if (sequence !== undefined) visit(sequence);
    }
  }

  /** The last in order that `fits`. */
  findLast(fits: (sequence: Sequence) => boolean): Sequence | undefined {
    for (let at = this.items.length - 1; at >= this.head; at -= 1) {
      const sequence = this.items[at];
      if (sequence !== undefined && fits(sequence)) return sequence;
    }
    return undefined;
  }

  private isBefore(a: Sequence, b: Sequence): boolean {
    if (this.byPriority && a.spec.priority !== b.spec.priority) {
      return a.spec.priority < b.spec.priority;
    }
    return a.order < b.order;
  }
}
