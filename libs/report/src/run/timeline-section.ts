import {
  type EngineRecord,
  NEVER,
  phasesOf,
  REQUEST_PHASES,
  readPhases,
  type RequestLog,
  type RunRecord,
} from '@baton/analysis';
import { usToMs } from '@baton/kernel';
import { formatNumber } from '../format-number';
import type { GanttSection } from '../sections';
import { PHASE_NAMES, PHASE_TONES } from './load-sections';

const MOST_ROWS = 200;

/** Timelines of whole requests: all of a short run, evenly chosen ones of a long run. */
export function timelineSection({ log, engines }: RunRecord): GanttSection {
  const { rows, which } = chosenRows(log);
  return {
    kind: 'gantt',
    title: 'Requests from arrival to last token',
    note: `${which} Hover a bar for its length, engines and tokens.`,
    phases: phasesOf(log).map((phase) => ({ name: PHASE_NAMES[phase], tone: PHASE_TONES[phase] })),
    rows: rows
      .filter((row) => log.prefillStartUs.at(row) !== NEVER)
      .map((row) => timelineRow(log, row, engines)),
  };
}

/**
 * All requests of a short run, or evenly chosen ones of a long run, and a sentence about the
 * choice.
 */
export function chosenRows(log: RequestLog): {
  readonly rows: readonly number[];
  readonly which: string;
} {
  const count = Math.min(MOST_ROWS, log.count);
  const rows = Array.from({ length: count }, (_none, i) => Math.floor((i * log.count) / count));
  const some = `${count} of ${formatNumber(log.count)} requests, evenly chosen.`;
  return { rows, which: count === log.count ? 'All requests.' : some };
}

function timelineRow(
  log: RequestLog,
  row: number,
  engines: readonly EngineRecord[],
): GanttSection['rows'][number] {
  const spans = new Float64Array(REQUEST_PHASES.length);
  readPhases(log, row, spans);
  const on = [log.prefillEngine[row]!, log.decodeEngine[row]!]
    .filter((engine, i, all) => engine >= 0 && all.indexOf(engine) === i)
    .map((engine) => engines[engine]?.engineId ?? '?');
  const cached = log.cachedTokens[row]! > 0 ? ` (${log.cachedTokens[row]} cached)` : '';
  return {
    label: `#${row}`,
    startMs: usToMs(log.arrivalUs.at(row)),
    spansMs: phasesOf(log).map((phase) => {
      const us = spans[REQUEST_PHASES.indexOf(phase)]!;
      return us === NEVER ? null : usToMs(us);
    }),
    detail:
      `${log.promptTokens[row]} prompt tokens${cached}, ${log.emittedTokens[row]} output ` +
      `tokens, ${on.join(' → ')}`,
  };
}
