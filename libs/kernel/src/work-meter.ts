/** More work than allowed; the caller that set the bound decides what follows. */
export class WorkExceeded extends Error {
  constructor() {
    super('the work exceeds its bound');
    this.name = 'WorkExceeded';
  }
}

/** Work runs without interruption, so one number for the whole process is enough. */
let left = Infinity;
let spent = 0;

/**
 * Counts work that grows with what a client sends. One unit is about one step of an automaton, one
 * schema visited or one value tried.
 *
 * @throws WorkExceeded when the surrounding `withinWork` allows no more
 */
export function spendWork(units: number): void {
  left -= units;
  spent += units;
  if (left < 0) throw new WorkExceeded();
}

/** Work since the start of the process: the difference of two readings is what a call took. */
export function workSpent(): number {
  return spent;
}

/**
 * Runs a function that may spend this much work in all. The count depends only on the input, never
 * on time, so that one input has one outcome.
 *
 * @throws WorkExceeded
 */
export function withinWork<Result>(units: number, run: () => Result): Result {
  const before = left;
  left = units;
  try {
    return run();
  } finally {
    left = before;
  }
}
