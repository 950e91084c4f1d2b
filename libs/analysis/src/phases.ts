import type { Micros } from '@baton/kernel';
import { NEVER, outcomeCode, type RequestLog } from './request-log';

/**
 * What a request goes through, one after the other: `queue` until its first step, `prefill` until
 * the prompt is computed (aggregated: until the first token), `hold` until decode has room and the
 * transfer begins, `transfer`, `decode_wait` until the first token (that token's step included),
 * `decode` until the last one. An aggregated request has no hold, transfer and decode_wait.
 */
export const REQUEST_PHASES = [
  'queue',
  'prefill',
  'hold',
  'transfer',
  'decode_wait',
  'decode',
] as const;
export type RequestPhase = (typeof REQUEST_PHASES)[number];

/**
 * Length of each phase in µs, in the order of `REQUEST_PHASES`; NEVER for a phase that a request
 * did not have or has not ended.
 */
export type PhaseSpans = Float64Array;

/**
 * Writes the phases of a row into `spans`, which has a place for each of `REQUEST_PHASES`. Those
 * that are there lie end to end from the arrival.
 */
export function readPhases(log: RequestLog, row: number, spans: PhaseSpans): void {
  const startUs = log.prefillStartUs[row]!;
  const heldUs = log.heldUs[row]!;
  const sendUs = log.transferStartUs[row]!;
  const sentUs = log.transferEndUs[row]!;
  const firstUs = log.firstTokenUs[row]!;
  const isHandedOver = heldUs !== NEVER;
  spans[0] = between(log.arrivalUs[row]!, startUs);
  spans[1] = between(startUs, isHandedOver ? heldUs : firstUs);
  spans[2] = between(heldUs, sendUs);
  spans[3] = isHandedOver ? between(sendUs, sentUs) : NEVER;
  spans[4] = isHandedOver ? between(sentUs, firstUs) : NEVER;
  spans[5] = between(firstUs, log.finishUs[row]!);
}

/** Mean length of each phase in µs over the completed requests that had it; NaN where none had. */
export function meanPhases(log: RequestLog): Record<RequestPhase, number> {
  const spans = new Float64Array(REQUEST_PHASES.length);
  const sums = new Float64Array(REQUEST_PHASES.length);
  const counts = new Float64Array(REQUEST_PHASES.length);
  const completed = outcomeCode('completed');
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== completed) continue;
    readPhases(log, row, spans);
    for (let phase = 0; phase < spans.length; phase++) {
      if (spans[phase] === NEVER) continue;
      sums[phase]! += spans[phase]!;
      counts[phase]!++;
    }
  }
  const means = REQUEST_PHASES.map((phase, index) => [phase, sums[index]! / counts[index]!]);
  return Object.fromEntries(means) as Record<RequestPhase, number>;
}

function between(fromUs: Micros, untilUs: Micros): Micros {
  return fromUs === NEVER || untilUs === NEVER ? NEVER : untilUs - fromUs;
}
