import { BatonError } from '@baton/contract';
import { Turns, TurnShare, TurnsFull, withinWork, WorkExceeded, workSpent } from '@baton/kernel';

/** Steps after which a turn of the event loop begins no further slice: some 4 ms on a slow core. */
const SLICE_WORK = 25_000;
/** Steps from one pause to the next: some 15 ms on a slow core. */
const MOST_UNPAUSED_WORK = 75_000;
/** Steps of all slices together, as many as a thread may take for one request. */
const MOST_WORK = 3_000_000;

const MOST_PAUSED = 64;
/** Wait that a client is asked for, s: as long as the paused runs may take together. */
const RETRY_AFTER_S = 30;

/** One paused run continues at a time, so that short runs wait for none of the others. */
const continuing = new Turns(1, MOST_PAUSED);
/** First slices and further ones share one budget. */
const share = new TurnShare(SLICE_WORK, setTimeout);

/**
 * Runs a generator that yields wherever it may pause. It pauses after each slice of work, so that
 * other clients' streams continue. The first slice runs at once, unless the slices of other runs
 * have used up the turn.
 *
 * @throws BatonError `request_too_complex` when the work in all, or between two pauses, is too
 * much; `threads_busy` when too many runs are paused
 */
export async function inSlices<Result>(run: Generator<void, Result>): Promise<Result> {
  const first = await share.take(() => slice(run, MOST_WORK));
  if (first.done === true) return first.value;
  try {
    return await continuing.take(() => otherSlices(run, MOST_WORK - first.work));
  } catch (error) {
    if (!(error instanceof TurnsFull)) throw error;
    throw new BatonError('threads_busy', undefined, null, RETRY_AFTER_S);
  }
}

async function otherSlices<Result>(run: Generator<void, Result>, left: number): Promise<Result> {
  for (;;) {
    const most = left;
    const { work, ...step } = await share.take(() => slice(run, most));
    if (step.done === true) return step.value;
    left -= work;
  }
}

type Slice<Result> = IteratorResult<void, Result> & { readonly work: number };

function slice<Result>(run: Generator<void, Result>, left: number): Slice<Result> {
  const before = workSpent();
  try {
    return withinWork(Math.min(left, SLICE_WORK + MOST_UNPAUSED_WORK), () => {
      let step = run.next();
      while (step.done !== true && workSpent() - before < SLICE_WORK) step = run.next();
      return { ...step, work: workSpent() - before };
    });
  } catch (error) {
    if (error instanceof WorkExceeded) throw new BatonError('request_too_complex');
    throw error;
  }
}
