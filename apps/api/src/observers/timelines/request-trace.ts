import type { SequenceTrace } from './sequence-trace';

/** One request of a client with its sequences. */
export interface RequestTrace {
  /** Id of the answer. */
  readonly id: string;
  /** `X-Request-Id`. */
  readonly requestId: string;
  readonly endpoint: string;
  readonly model: string;
  /** µs of the wall clock since the Unix epoch. */
  readonly arrivalUs: number;
  readonly sequences: SequenceTrace[];
  /** ms of `performance.now()` at which the last of them ended. */
  endedMs: number | undefined;
}

export function hasEnded({ sequences }: RequestTrace): boolean {
  return sequences.every(({ end }) => end !== undefined);
}
