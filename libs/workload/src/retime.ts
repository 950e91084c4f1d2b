import { assert, type Micros, type RandomStream } from '@baton/kernel';
import { firstCount, isFirst, type Workload } from './workload';

/**
 * A workload with `factor` (> 0) times the rate. The pauses between the turns of a conversation
 * stay, because they are think times.
 */
export function scaleRate(workload: Workload, factor: number): Workload {
  assert(factor > 0 && Number.isFinite(factor), `invalid rate factor: ${factor}`);
  if (factor === 1) return workload;
  return retimed(workload, (atUs) => Math.round(atUs / factor));
}

/**
 * The requests, in their order, at these instants: one ascending instant for each request that
 * waits for no other. Later turns keep their pauses.
 */
export function withArrivals(workload: Workload, arrivalUs: Float64Array): Workload {
  assert(arrivalUs.length === firstCount(workload), 'each request needs one arrival');
  let next = 0;
  return retimed(workload, () => arrivalUs[next++]!);
}

/** A workload with the same gaps whose first arrival is at 0. */
export function fromZero(workload: Workload): Workload {
  const beginUs = workload.count === 0 ? 0 : workload.arrivalUs[0]!;
  return beginUs === 0 ? workload : retimed(workload, (atUs) => atUs - beginUs);
}

export interface SpreadOptions {
  /**
   * Length of a tick of the clock that stamped the trace. Default: the median distance of different
   * stamps.
   */
  readonly quantumUs?: Micros | undefined;
  /** Draws the places within a tick, uniformly. Default: even distances. */
  readonly random?: RandomStream | undefined;
}

/**
 * Undoes a coarse clock: spreads the requests of one instant over the tick that begins there, in
 * their order, and never beyond the next stamp. The Mooncake conversation trace has ticks of 3 s
 * with up to 28 requests each.
 */
export function spreadStamps(workload: Workload, options: SpreadOptions = {}): Workload {
  const stamps = firstArrivals(workload);
  const quantumUs = options.quantumUs ?? medianGapUs(stamps);
  const spread = new Float64Array(stamps.length);
  for (let from = 0; from < stamps.length;) {
    let to = from + 1;
    while (to < stamps.length && stamps[to] === stamps[from]) to += 1;
    const gapUs = to < stamps.length ? stamps[to]! - stamps[from]! : quantumUs;
    const places = placesWithin(to - from, options.random);
    for (let i = from; i < to; i++) {
      spread[i] = stamps[from]! + Math.floor(places[i - from]! * Math.min(quantumUs, gapUs));
    }
    from = to;
  }
  return withArrivals(workload, spread);
}

/** `count` ascending numbers in [0, 1). */
function placesWithin(count: number, random: RandomStream | undefined): Float64Array {
  const places = new Float64Array(count);
  for (let i = 0; i < count; i++) places[i] = random === undefined ? i / count : random.unit();
  return random === undefined ? places : places.sort();
}

/** Median distance of neighbouring stamps that differ. 0 when all are equal. */
function medianGapUs(stamps: Float64Array): Micros {
  const gaps = new Float64Array(Math.max(0, stamps.length - 1));
  let count = 0;
  for (let i = 1; i < stamps.length; i++) {
    if (stamps[i] !== stamps[i - 1]) gaps[count++] = stamps[i]! - stamps[i - 1]!;
  }
  return gaps.subarray(0, count).sort()[Math.floor(count / 2)] ?? 0;
}

function firstArrivals(workload: Workload): Float64Array {
  if (workload.after.length === 0) return workload.arrivalUs;
  return workload.arrivalUs.filter((_, row) => isFirst(workload, row));
}

/** The workload with other instants for the requests that wait for no other. */
export function retimed(workload: Workload, instant: (atUs: Micros) => Micros): Workload {
  const arrivalUs = workload.arrivalUs.slice();
  for (let row = 0; row < workload.count; row++) {
    if (isFirst(workload, row)) arrivalUs[row] = instant(arrivalUs[row]!);
  }
  return { ...workload, arrivalUs };
}
