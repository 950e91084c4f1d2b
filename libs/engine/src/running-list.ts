import type { Sequence } from './sequence';

/** The batch in order of admission, so that the newest is known when a block is short. Intrusive: joining and leaving allocate nothing. */
export class RunningList {
  private oldest: Sequence | undefined;
  private newest: Sequence | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  append(sequence: Sequence): void {
    sequence.before = this.newest;
    sequence.after = undefined;
    if (this.newest === undefined) this.oldest = sequence;
    else this.newest.after = sequence;
    this.newest = sequence;
    this.count += 1;
  }

  remove(sequence: Sequence): void {
    if (sequence.before === undefined) this.oldest = sequence.after;
    else sequence.before.after = sequence.after;
    if (sequence.after === undefined) this.newest = sequence.before;
    else sequence.after.before = sequence.before;
    sequence.before = undefined;
    sequence.after = undefined;
    this.count -= 1;
  }

  /** Whom vLLM preempts: the newest, under `priority` the newest of the lowest priority (the largest number). */
  victim(byPriority: boolean): Sequence | undefined {
    if (!byPriority) return this.newest;
    let victim = this.newest;
    for (let at = this.newest; at !== undefined; at = at.before) {
      if (at.spec.priority > (victim?.spec.priority ?? -Infinity)) victim = at;
    }
    return victim;
  }
}
