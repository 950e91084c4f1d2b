import type { Micros } from '@baton/kernel';
import { tpotOf } from './latencies';
import { NEVER } from './instants';
import { outcomeCode, type RequestLog } from './request-log';

/** Latencies that an SLO can bound, in the order of display. */
export const OBJECTIVES = ['ttft', 'tpot', 'itl', 'e2el'] as const;
export type Objective = (typeof OBJECTIVES)[number];

/**
 * A service-level objective: upper bounds per request, in µs. `itl` bounds the mean gap between the
 * tokens of a request (as aiperf and guidellm define a request's ITL), which is its TPOT.
 */
export type Slo = Readonly<Partial<Record<Objective, Micros>>>;

/** An SLO with a fault. The message is one line for the user. */
export class SloError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SloError';
  }
}

const PART = /^([a-z0-9]+)\s*=\s*(\d+(?:\.\d+)?|\.\d+)\s*(us|µs|ms|s)?$/;
const US_PER_UNIT = { us: 1, µs: 1, ms: 1_000, s: 1_000_000 } as const;
type Unit = keyof typeof US_PER_UNIT;
const EXAMPLE = 'write for example ttft=2s,tpot=50ms';

/**
 * Reads `ttft=2s,tpot=50ms,e2el=30s`, in any order. Units are us, ms and s.
 *
 * @throws SloError for other text, an unknown or repeated name, a missing unit and a bound of 0
 */
export function parseSlo(text: string): Slo {
  const slo: Partial<Record<Objective, Micros>> = {};
  for (const part of text.split(',')) {
    const [name, boundUs] = parsePart(part.trim());
    if (slo[name] !== undefined) throw new SloError(`SLO names ${name} twice: ${EXAMPLE}.`);
    slo[name] = boundUs;
  }
  return slo;
}

/** The SLO as text: `ttft=2s,tpot=50ms`. */
export function formatSlo(slo: Slo): string {
  return OBJECTIVES.flatMap((name) => {
    const boundUs = slo[name];
    return boundUs === undefined ? [] : [`${name}=${formatSpan(boundUs)}`];
  }).join(',');
}

function formatSpan(us: Micros): string {
  if (us % US_PER_UNIT.ms !== 0) return `${us}us`;
  return us % US_PER_UNIT.s === 0 ? `${us / US_PER_UNIT.s}s` : `${us / US_PER_UNIT.ms}ms`;
}

function parsePart(part: string): [Objective, Micros] {
  const [, name, digits, unit] = PART.exec(part) ?? [];
  if (name === undefined || digits === undefined) {
    throw new SloError(`SLO "${part.slice(0, 40)}" is not understood: ${EXAMPLE}.`);
  }
  const objective = OBJECTIVES.find((each) => each === name);
  if (objective === undefined) {
    throw new SloError(`SLO has no objective ${name} (only ${OBJECTIVES.join(', ')}): ${EXAMPLE}.`);
  }
  if (unit === undefined) {
    throw new SloError(`SLO "${part}" needs a unit, us, ms or s: ${EXAMPLE}.`);
  }
  const boundUs = Math.round(Number(digits) * US_PER_UNIT[unit as Unit]);
  if (boundUs < 1) throw new SloError(`SLO "${part}" cannot be met: ${EXAMPLE}.`);
  return [objective, boundUs];
}

/** The number of requests that met all objectives, and each one of the SLO. */
export interface Attainment {
  readonly good: number;
  readonly met: Readonly<Partial<Record<Objective, number>>>;
}

/** Counts over a log. Only a completed request can meet an objective. */
export function attainmentOf(log: RequestLog, slo: Slo): Attainment {
  const requested = OBJECTIVES.filter((name) => slo[name] !== undefined);
  const met = requested.map((name) => [name, countGood(log, { [name]: slo[name] })] as const);
  return { good: countGood(log, slo), met: Object.fromEntries(met) };
}

/** Returns a function that decides whether the request of a row met all objectives of an SLO. */
export function sloTest(log: RequestLog, slo: Slo): (row: number) => boolean {
  const { ttft = Infinity, tpot = Infinity, itl = Infinity, e2el = Infinity } = slo;
  const gapUs = Math.min(tpot, itl);
  return (row) => {
    if (log.outcome[row] !== COMPLETED || log.firstTokenUs.at(row) === NEVER) return false;
    const arrivalUs = log.arrivalUs.at(row);
    return (
      log.firstTokenUs.at(row) - arrivalUs <= ttft &&
      log.finishUs.at(row) - arrivalUs <= e2el &&
      tpotOf(log, row) <= gapUs
    );
  };
}

const COMPLETED = outcomeCode('completed');

function countGood(log: RequestLog, slo: Slo): number {
  const isGood = sloTest(log, slo);
  let good = 0;
  for (let row = 0; row < log.count; row++) if (isGood(row)) good++;
  return good;
}
