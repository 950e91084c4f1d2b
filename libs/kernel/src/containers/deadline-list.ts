import { assert } from '../assert';
import type { Micros } from '../time';
import { Chain, type ChainLink } from './chain';

/** A deadline of `owner`; it stands in at most one list. */
export interface Deadline<T> extends ChainLink<Deadline<T>> {
  readonly owner: T;
  dueUs: Micros;
}

export function newDeadline<T>(owner: T): Deadline<T> {
  return { owner, dueUs: 0, chain: undefined, previous: undefined, next: undefined };
}

/**
 * Deadlines that are all the same span away from the instant at which they are set, and therefore
 * stay sorted by appending: setting, removing and finding the earliest cost the same however many
 * there are.
 */
export class DeadlineList<T> {
  private readonly chain = new Chain<Deadline<T>>();

  /**
   * Sets a deadline, which leaves the list it stood in. `dueUs` may not lie before any deadline of
   * this list.
   */
  set(deadline: Deadline<T>, dueUs: Micros): void {
    deadline.dueUs = dueUs;
    this.chain.append(deadline);
    const { previous } = deadline;
    assert(previous === undefined || previous.dueUs <= dueUs, 'deadlines are set in order');
  }

  earliest(): Deadline<T> | undefined {
    return this.chain.first;
  }
}

/** Takes a deadline out of the list in which it stands, if any. */
export function clearDeadline<T>(deadline: Deadline<T>): void {
  deadline.chain?.remove(deadline);
}
