import type { Micros } from '@baton/kernel';
import { NEVER } from './instants';
import { outcomeCode, type RequestLog } from './request-log';

/**
 * The consecutive phases of a request. `front_end`: until it has passed the server in front of the
 * engines. `queue`: until its first step. `prefill`: until the prompt is computed (aggregated:
 * until the first token). `dispatch`: until it has passed the server in front of decode. `hold`:
 * until decode has room and the transfer begins. `transfer`: the transfer of its KV. `decode_wait`:
 * until the first token, including that token's step. `decode`: until the last token. An aggregated
 * request has no dispatch, hold, transfer and decode_wait. A run without a front end has neither
 * front_end nor dispatch.
 */
export const REQUEST_PHASES = [
  'front_end',
  'queue',
  'prefill',
  'dispatch',
  'hold',
  'transfer',
  'decode_wait',
  'decode',
] as const;
export type RequestPhase = (typeof REQUEST_PHASES)[number];

/** Phases of runs without a front end, including live clusters. */
export type EnginePhase = Exclude<RequestPhase, 'front_end' | 'dispatch'>;
export const ENGINE_PHASES: readonly EnginePhase[] = REQUEST_PHASES.filter(
  (phase) => phase !== 'front_end' && phase !== 'dispatch',
);

/** The phases of requests of a run, in their order. */
export function phasesOf({ frontEnd }: RequestLog): readonly RequestPhase[] {
  return frontEnd === undefined ? ENGINE_PHASES : REQUEST_PHASES;
}

/** A value for each phase of a run. */
export type OfPhases<T> = Readonly<Record<EnginePhase, T> & Partial<Record<RequestPhase, T>>>;

/**
 * Length of each phase in µs, in the order of `REQUEST_PHASES`. NEVER for a phase that a request
 * did not have or has not ended.
 */
export type PhaseSpans = Float64Array;

/**
 * Writes the phases of a row into `spans`, which has a place for each of `REQUEST_PHASES`. They lie
 * end to end from the arrival.
 */
export function readPhases(log: RequestLog, row: number, spans: PhaseSpans): void {
  const startUs = log.prefillStartUs.at(row);
  const heldUs = log.heldUs.at(row);
  const sendUs = log.transferStartUs.at(row);
  const sentUs = log.transferEndUs.at(row);
  const firstUs = log.firstTokenUs.at(row);
  const isHandedOver = heldUs !== NEVER;
  const { frontEnd } = log;
  const arrivalUs = log.arrivalUs.at(row);
  const enqueuedUs = frontEnd === undefined ? arrivalUs : frontEnd.enqueuedUs.at(row);
  const offeredUs = frontEnd === undefined ? heldUs : frontEnd.offeredUs.at(row);
  spans[0] = frontEnd === undefined ? NEVER : between(arrivalUs, enqueuedUs);
  spans[1] = between(enqueuedUs, startUs);
  spans[2] = between(startUs, isHandedOver ? heldUs : firstUs);
  spans[3] = frontEnd === undefined ? NEVER : between(heldUs, offeredUs);
  spans[4] = between(offeredUs, sendUs);
  spans[5] = isHandedOver ? between(sendUs, sentUs) : NEVER;
  spans[6] = isHandedOver ? between(sentUs, firstUs) : NEVER;
  spans[7] = between(firstUs, log.finishUs.at(row));
}

/** Mean length of each phase in µs over the completed requests that had it; NaN where none had. */
export function meanPhases(log: RequestLog): OfPhases<number> {
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
  const means = phasesOf(log).map((phase) => {
    const index = REQUEST_PHASES.indexOf(phase);
    return [phase, sums[index]! / counts[index]!] as const;
  });
  return Object.fromEntries(means) as OfPhases<number>;
}

function between(fromUs: Micros, untilUs: Micros): Micros {
  return fromUs === NEVER || untilUs === NEVER ? NEVER : untilUs - fromUs;
}
