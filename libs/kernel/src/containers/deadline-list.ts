import { assert } from '../assert';
import type { Micros } from '../time';
import { Chain, type ChainLink } from './chain';

/** A deadline of `owner`; it is in at most one list. */
export interface Deadline<T> extends ChainLink<Deadline<T>> {
  readonly owner: T;
  dueUs: Micros;
}

export function newDeadline<T>(owner: T): Deadline<T> {
  return { owner, dueUs: Infinity, chain: undefined, previous: undefined, next: undefined };
}

/**
 * Deadlines that are all set for the same span ahead, and therefore stay sorted by appending:
 * setting, removing and finding the earliest take constant time.
 */
export class DeadlineList<T> {
  private readonly chain = new Chain<Deadline<T>>();

  /**
   * Sets a deadline, and removes it from its former list. `dueUs` must not be before any deadline
   * of this list.
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

/** Removes a deadline from its list, if any. */
export function clearDeadline<T>(deadline: Deadline<T>): void {
  deadline.chain?.remove(deadline);
}
