import {
  sloTest,
  NEVER,
  OUTCOMES,
  type RequestLog,
  type RunRecord,
  type Slo,
  tpotOf,
} from '@baton/analysis';
import { usToMs } from '@baton/kernel';

const ROWS_PER_CHUNK = 1_024;

const HEAD = [
  'request',
  'outcome',
  'prompt_tokens',
  'cached_tokens',
  'transferred_tokens',
  'output_tokens',
  'emitted_tokens',
  'preemptions',
  'prefill_engine',
  'decode_engine',
  'arrival_us',
  'prefill_start_us',
  'held_us',
  'transfer_start_us',
  'transfer_end_us',
  'first_token_us',
  'finish_us',
  'ttft_ms',
  'tpot_ms',
  'e2el_ms',
  'meets_slo',
];

/** Last columns, so that the others have the same place with and without a front end. */
const FRONT_END_HEAD = ['enqueued_us', 'offered_us'];

/**
 * The log of a run as CSV in pieces of about 100 kB, with one row per request in order of arrival.
 * Instants are µs of simulated time. Missing events are empty, and so is `meets_slo` without an
 * SLO.
 */
export function* requestCsv(run: RunRecord, slo: Slo | undefined): Generator<string> {
  const { log, engines } = run;
  const names = engines.map(({ engineId }) => quoted(engineId));
  const isGood = slo === undefined ? undefined : sloTest(log, slo);
  yield `${[...HEAD, ...(log.frontEnd === undefined ? [] : FRONT_END_HEAD)].join(',')}\n`;
  for (let from = 0; from < log.count; from += ROWS_PER_CHUNK) {
    let chunk = '';
    const until = Math.min(log.count, from + ROWS_PER_CHUNK);
    for (let row = from; row < until; row++) {
      const verdict = isGood === undefined ? '' : isGood(row);
      chunk +=
        `${row},${OUTCOMES[log.outcome[row]!]},${counts(log, row)},${places(log, row, names)},` +
        `${instants(log, row)},${latencies(log, row)},${verdict}${passes(log, row)}\n`;
    }
    yield chunk;
  }
}

function counts(log: RequestLog, row: number): string {
  return (
    `${log.promptTokens[row]},${log.cachedTokens[row]},${log.transferredTokens[row]},` +
    `${log.outputTokens[row]},${log.emittedTokens[row]},${log.preemptions[row]}`
  );
}

function places(log: RequestLog, row: number, names: readonly string[]): string {
  return `${names[log.prefillEngine[row]!] ?? ''},${names[log.decodeEngine[row]!] ?? ''}`;
}

function instants(log: RequestLog, row: number): string {
  return (
    `${instant(log.arrivalUs.at(row))},${instant(log.prefillStartUs.at(row))},` +
    `${instant(log.heldUs.at(row))},${instant(log.transferStartUs.at(row))},` +
    `${instant(log.transferEndUs.at(row))},${instant(log.firstTokenUs.at(row))},` +
    `${instant(log.finishUs.at(row))}`
  );
}

function passes({ frontEnd }: RequestLog, row: number): string {
  if (frontEnd === undefined) return '';
  return `,${instant(frontEnd.enqueuedUs.at(row))},${instant(frontEnd.offeredUs.at(row))}`;
}

function instant(us: number): string {
  return us === NEVER ? '' : String(us);
}

function latencies(log: RequestLog, row: number): string {
  const arrivalUs = log.arrivalUs.at(row);
  const firstUs = log.firstTokenUs.at(row);
  const finishUs = log.finishUs.at(row);
  const ttft = firstUs === NEVER ? '' : usToMs(firstUs - arrivalUs);
  const hasEnded = firstUs !== NEVER && finishUs !== NEVER;
  const tpot = hasEnded && log.emittedTokens[row]! > 1 ? milliseconds(tpotOf(log, row)) : '';
  return `${ttft},${tpot},${hasEnded ? usToMs(finishUs - arrivalUs) : ''}`;
}

/** Milliseconds with three decimal places. */
function milliseconds(us: number): number {
  return usToMs(Math.round(us));
}

/** A quoted field for any text (RFC 4180). */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
