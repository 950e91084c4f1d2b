import { type ArrivalChoice, SHARED_QUEUE } from '@baton/policies';

/**
 * The engines that computed the rows of a recorded run, so that the rows go there again. By row:
 * the index of the engine among the initial engines of its role; -1: the stage did not run. A row
 * with only a decode engine was also prefilled there. The policies place a row without any engine.
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
