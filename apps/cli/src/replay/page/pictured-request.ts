import { type Instants, NEVER, outcomeCode, type RequestLog } from '@baton/analysis';
import type { Micros } from '@baton/kernel';

/** The state of a request at an instant, in the form of a picture. */
export interface PicturedRequest {
  /** Index in `PICTURE_PHASES`. */
  readonly phase: 0 | 1 | 2 | 3;
  /** Index of its engine; -1: none. */
  readonly engine: number;
  /** Tokens received so far. */
  readonly tokens: number;
}

const [QUEUE, PREFILL, TRANSFER, DECODE] = [0, 1, 2, 3] as const;
const SHOWN = [outcomeCode('completed'), outcomeCode('unfinished')];

/**
 * The time for which the row is on the page: from its arrival to its end. Undefined: it is not
 * shown.
 */
export function spanOf(log: RequestLog, row: number): [Micros, Micros] | undefined {
  const arrivalUs = log.arrivalUs.at(row);
  if (arrivalUs === NEVER || !SHOWN.includes(log.outcome[row]!)) return undefined;
  const finishUs = log.finishUs.at(row);
  return [arrivalUs, finishUs === NEVER ? Infinity : finishUs];
}

/**
 * The state of the row at an instant within its span. Its tokens are spread evenly from the first
 * to the last.
 */
export function stateAt(log: RequestLog, row: number, atUs: Micros): PicturedRequest {
  const isPast = (instants: Instants): boolean =>
    instants.at(row) !== NEVER && instants.at(row) <= atUs;
  const [first, second] = [log.prefillEngine[row]!, log.decodeEngine[row]!];
  const isSplit = log.heldUs.at(row) !== NEVER;
  if (isPast(isSplit ? log.transferEndUs : log.firstTokenUs)) {
    return { phase: DECODE, engine: isSplit ? second : first, tokens: tokensAt(log, row, atUs) };
  }
  if (isSplit && isPast(log.heldUs)) return { phase: TRANSFER, engine: second, tokens: 0 };
  if (isPast(log.prefillStartUs)) return { phase: PREFILL, engine: first, tokens: 0 };
  return { phase: QUEUE, engine: -1, tokens: 0 };
}

function tokensAt(log: RequestLog, row: number, atUs: Micros): number {
  const firstUs = log.firstTokenUs.at(row);
  if (firstUs === NEVER || atUs < firstUs) return 0;
  const spanUs = log.finishUs.at(row) - firstUs;
  const share = spanUs > 0 ? Math.min(1, (atUs - firstUs) / spanUs) : 1;
  return 1 + Math.floor(share * (log.emittedTokens[row]! - 1));
}
