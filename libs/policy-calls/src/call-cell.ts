/** Shared by a thread that calls policies and the thread that watches it. */
export type CallCell = Int32Array;

/** Number of the call under way. 0: none. Negative: the watching thread is ending it. */
export const CALL = 0;
/** Looks at the same call until it is ended. */
export const MOST_LOOKS = 1;

export const LOOK_MS = 25;

export function newCell(): CallCell {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Numbers repeat; two looks at one number must not see different calls. */
const MOST_NUMBERS = 2 ** 30;

export function numberAfter(number: number): number {
  return (number % MOST_NUMBERS) + 1;
}
