import { type ArrivalChoice, SHARED_QUEUE } from '@baton/placement';

/**
 * Where the rows of a recorded run were computed, to be sent there again: by row, the index of the
 * engine among those of its role at the start, -1 where it did not run. A row with a decode engine
 * alone had its prompt computed there too; one without any goes where the policies send it.
 */
export interface RecordedPlacement {
  readonly prefill: Int16Array;
  readonly decode: Int16Array;
  readonly aggregated: Int16Array;
}

/** The choice on arrival that leads to the recorded engines; undefined when these are not known. */
export function recordedChoice(
  { prefill, decode }: RecordedPlacement,
  row: number,
): ArrivalChoice | undefined {
  const [first, second] = [prefill[row]!, decode[row]!];
  if (second < 0) return undefined;
  if (first < 0) return { kind: 'local', prefill: SHARED_QUEUE, decode: second };
  return { kind: 'disaggregated', prefill: first, decode: second };
}
