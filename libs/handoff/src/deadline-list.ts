import { assert } from '@baton/kernel';
import type { Micros } from '@baton/kernel';

/** A deadline of `owner`; it stands in at most one list. */
export interface Deadline<T> {
  readonly owner: T;
  dueUs: Micros;
  list: DeadlineList<T> | undefined;
  previous: Deadline<T> | undefined;
  next: Deadline<T> | undefined;
}

export function newDeadline<T>(owner: T): Deadline<T> {
  return { owner, dueUs: 0, list: undefined, previous: undefined, next: undefined };
}

/**
 * Deadlines that are all the same span away from the instant at which they are set, and therefore stay sorted by appending: setting,
 * removing and finding the earliest cost the same however many there are.
 */
export class DeadlineList<T> {
  private head: Deadline<T> | undefined;
  private tail: Deadline<T> | undefined;

  /** Sets a deadline, which leaves the list it stood in. `dueUs` may not lie before any deadline of this list. */
  set(deadline: Deadline<T>, dueUs: Micros): void {
    deadline.list?.remove(deadline);
    assert(this.tail === undefined || this.tail.dueUs <= dueUs, 'deadlines are set in order');
    deadline.dueUs = dueUs;
    deadline.list = this;
    deadline.previous = this.tail;
    if (this.tail === undefined) this.head = deadline;
    else this.tail.next = deadline;
    this.tail = deadline;
  }

  /** Takes a deadline out; one that does not stand here is left alone. */
  remove(deadline: Deadline<T>): void {
    if (deadline.list !== this) return;
    if (deadline.previous === undefined) this.head = deadline.next;
    else deadline.previous.next = deadline.next;
    if (deadline.next === undefined) this.tail = deadline.previous;
    else deadline.next.previous = deadline.previous;
    deadline.list = undefined;
    deadline.previous = undefined;
    deadline.next = undefined;
  }

  earliest(): Deadline<T> | undefined {
    return this.head;
  }
}
