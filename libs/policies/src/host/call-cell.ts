/** Shared by a thread that calls policies and the thread that watches it. */
export type CallCell = Int32Array;

/** Number of the call under way. 0: none. Negative: the watching thread is ending it. */
export const CALL = 0;
/** Looks at the same call after which it is ended at the next one. */
export const MOST_LOOKS = 1;
/** Time between two looks. */
export const LOOK_MS = 2;
/** 1: the thread looks. */
const READY = 3;
/** Bytes of the place at which the last ended call was. */
const PLACE_BYTES = 4;
/** Maximum time until the code pauses, so that its line can be read. */
export const PAUSE_MS = 5;
const FIELDS = 6;
const MOST_PLACE_BYTES = 256;

/** The time limit of a call, and its watch. */
export interface CallLimits {
  readonly limitMs: number;
  /** Time between two looks of the watching thread. */
  readonly lookMs: number;
  /**
   * Maximum time until the code pauses, so that its line can be read: some 10 ms, on a busy machine
   * or the first time in a large program far longer.
   */
  readonly pauseMs: number;
}

export function newCell({ limitMs, lookMs, pauseMs }: CallLimits): CallCell {
  const bytes = FIELDS * Int32Array.BYTES_PER_ELEMENT + MOST_PLACE_BYTES;
  const cell = new Int32Array(new SharedArrayBuffer(bytes));
  cell[MOST_LOOKS] = Math.ceil(limitMs / lookMs) - 1;
  cell[LOOK_MS] = lookMs;
  cell[PAUSE_MS] = pauseMs;
  return cell;
}

/** Numbers repeat; two looks at one number must not see different calls. */
const MOST_NUMBERS = 2 ** 30;

export function numberAfter(number: number): number {
  return (number % MOST_NUMBERS) + 1;
}

export function setReady(cell: CallCell): void {
  Atomics.store(cell, READY, 1);
}

export function isReady(cell: CallCell): boolean {
  return Atomics.load(cell, READY) === 1;
}

/** @param place undefined: unknown */
export function notePlace(cell: CallCell, place: string | undefined): void {
  const { written } = new TextEncoder().encodeInto(place ?? '', placeOf(cell));
  Atomics.store(cell, PLACE_BYTES, written);
}

/** The noted place, which is then forgotten. Undefined: unknown. */
export function takePlace(cell: CallCell): string | undefined {
  const bytes = Atomics.exchange(cell, PLACE_BYTES, 0);
  if (bytes === 0) return undefined;
  // A decoder takes no shared memory.
  return new TextDecoder().decode(Uint8Array.from(placeOf(cell).subarray(0, bytes)));
}

function placeOf(cell: CallCell): Uint8Array {
  return new Uint8Array(cell.buffer, FIELDS * Int32Array.BYTES_PER_ELEMENT, MOST_PLACE_BYTES);
}
