/**
 * The epoch of a run: (submission, run) packed into one comparable integer. Every frame, hand-over
 * message and result carries it; a process that has seen a higher one ignores lower ones.
 */
export type Epoch = number;

const RUNS_PER_SUBMISSION = 1024;

/**
 * @param submission counts from 1
 * @param run counts from 0 to 1023 within its submission
 */
export function packEpoch(submission: number, run: number): Epoch {
  return submission * RUNS_PER_SUBMISSION + run;
}

export function submissionOf(epoch: Epoch): number {
  return Math.floor(epoch / RUNS_PER_SUBMISSION);
}
