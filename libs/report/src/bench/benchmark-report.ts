import {
  type BenchmarkFigures,
  type BenchmarkRecord,
  EXACT_MODEL,
  type LateFigureName,
  type Lateness,
  NEVER,
  OBJECTIVES,
  type RequestLog,
  type Slo,
  summarise,
  type Summary,
} from '@baton/analysis';
import { usToMs, usToSeconds } from '@baton/kernel';
import {
  formatMs,
  formatNumber,
  formatSeconds,
  formatShare,
  formatShareWithInterval,
  formatWithInterval,
} from '../format-number';
import { msText } from '../run/headline';
import { latencySections, VOID_MARK } from '../run/latency-sections';
import { rateSections } from '../run/load-sections';
import { foldExcept } from '../fold';
import { goodputFigures, lateFiguresText } from './console-benchmark';
import { sloSentence, sloVerdict } from '../run/run-answer';
import { chosenRows } from '../run/timeline-section';
import type {
  GanttSection,
  KeyValuesSection,
  ReportAnswer,
  ReportPage,
  ReportSection,
} from '../sections';
import { settingsSections } from '../settings-sections';

const LEAST_INTERVALS = 10;
const MOST_INTERVALS = 200;

/** The sections that are open at first; the others open on a click. */
const OPEN = ['Failures', 'Latency', 'Goodput', 'Requests', 'Throughput', 'TTFT', 'TPOT', 'ITL'];

type Entry = KeyValuesSection['entries'][number];

/** A load run with its facts for the report. */
export interface BenchmarkReport {
  readonly run: BenchmarkRecord;
  readonly figures: BenchmarkFigures;
  readonly slo: Slo | undefined;
  readonly title: string;
  readonly subtitle: string;
  /** The settings of the run, by flag. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * The page of a load run: the sections of a replay that a client can measure, and the reliability
 * of the client.
 */
export function benchmarkReport(report: BenchmarkReport): ReportPage {
  const { run, slo = {}, title, subtitle } = report;
  // A load run has no engines or GPUs, so the summary's figures per GPU are hidden.
  const summary = summarise(run, {
    ...(report.slo === undefined ? {} : { slo }),
    gpus: 1,
    seed: 0,
    wallSeconds: usToSeconds(run.endUs),
    // The intervals are those of the sample: a measurement has no error of step times.
    errorsAt: () => ({ ...EXACT_MODEL, source: 'the figures are measured' }),
  });
  return {
    title,
    subtitle,
    answer: answer(report, summary),
    sections: foldExcept(sectionsOf(), OPEN),
  };

  function sectionsOf(): ReportSection[] {
    return [
      headline(report, summary),
      ...failures(run),
      ...latencySections(run, { summary, slo, late: run.lateness.void_figures }),
      ...rateSections(run, { summary, slo }, { time: 'seconds', intervals: intervalsOf(run) }),
      timeline(run.log),
      generator(run),
      ...settingsSections('Settings', report.settings),
    ];
  }
}

/** Intervals of one second; longer ones in a long run, to limit the points of a chart. */
function intervalsOf({ endUs }: BenchmarkRecord): number {
  return Math.min(MOST_INTERVALS, Math.max(LEAST_INTERVALS, Math.ceil(usToSeconds(endUs))));
}

/** The answer of the page. Figures that lateness makes wrong are marked. */
function answer({ run, figures }: BenchmarkReport, summary: Summary): ReportAnswer {
  const { lateness } = run;
  const marked = markedFor(lateness);
  const ends = summary.intervals;
  const output = formatWithInterval(figures.output_throughput, ends.output_tokens_per_second);
  const requests: Entry = [
    'requests/s',
    formatWithInterval(figures.request_throughput, ends.request_rps),
    `${output} output tokens/s`,
  ];
  const [ttft, tpot] = latencies(summary);
  return {
    ...verdictOf(lateness, summary),
    figures: [marked(['throughput'], requests), marked(['ttft'], ttft), marked(['tpot'], tpot)],
  };
}

/** Marks an entry whose figure depends on one that lateness makes wrong. */
function markedFor({ void_figures: wrong }: Lateness) {
  return (names: readonly LateFigureName[], [name, ...texts]: Entry): Entry => [
    names.some((each) => wrong.includes(each)) ? name + VOID_MARK : name,
    ...texts,
  ];
}

/** A run of which every figure is void answers nothing. */
function verdictOf(
  lateness: Lateness,
  summary: Summary,
): Pick<ReportAnswer, 'verdict' | 'headline' | 'sentence'> {
  const { void: reason, void_figures: wrong } = lateness;
  if (reason === null) return { verdict: sloVerdict(summary), sentence: sloSentence(summary) };
  const sentence =
    `The machine was too slow: ${reason}. Run it again with more CPU time, fewer requests, or ` +
    'a cluster at half speed (--speedup 0.5).';
  if (wrong.length > OBJECTIVES.length) return { verdict: 'void', sentence };
  return {
    verdict: 'doubt',
    headline: `✖ VOID: ${lateFiguresText(lateness)}`,
    sentence: `${sentence} The other figures are valid.`,
  };
}

function latencies({
  ttft_ms: ttft,
  tpot_ms: tpot,
  intervals: ends,
}: Summary): readonly [Entry, Entry] {
  return [
    ['TTFT p50', msText(ttft.p50, ends.ttft_ms.p50), `p99 ${msText(ttft.p99, ends.ttft_ms.p99)}`],
    ['TPOT p50', msText(tpot.p50, ends.tpot_ms.p50), `p99 ${msText(tpot.p99, ends.tpot_ms.p99)}`],
  ];
}

function headline({ run, figures, slo }: BenchmarkReport, summary: Summary): KeyValuesSection {
  const marked = markedFor(run.lateness);
  const [ttft, tpot] = latencies(summary);
  const { unfinished, intervals: ends } = summary;
  const all = formatWithInterval(figures.total_token_throughput, ends.total_tokens_per_second);
  const failed = figures.failed === 0 ? 'none failed' : `${formatNumber(figures.failed)} failed`;
  const late = unfinished === 0 ? '' : `, ${formatNumber(unfinished)} unfinished`;
  return {
    kind: 'keyValues',
    title: 'Summary',
    look: 'tiles',
    entries: [
      ['completed', formatNumber(figures.completed), failed + late],
      [
        'duration',
        formatSeconds(figures.duration),
        `up to ${formatNumber(figures.max_concurrent_requests)} at once`,
      ],
      ...goodput(figures, summary).map((entry) => marked(goodputFigures(slo), entry)),
      marked(
        ['throughput'],
        ['requests/s', formatWithInterval(figures.request_throughput, ends.request_rps)],
      ),
      marked(
        ['throughput'],
        [
          'output tokens/s',
          formatWithInterval(figures.output_throughput, ends.output_tokens_per_second),
          `${all} with prompts`,
        ],
      ),
      marked(['ttft'], ttft),
      marked(['tpot'], tpot),
    ],
  };
}

function goodput(
  { request_goodput }: BenchmarkFigures,
  { slo, slo_attainment, intervals: ends }: Summary,
): Entry[] {
  if (slo === null) return [];
  const attained = formatShareWithInterval(slo_attainment, ends.slo_attainment);
  return [
    [
      'goodput, requests/s',
      formatWithInterval(request_goodput, ends.goodput_rps),
      `${attained} meet ${slo.replaceAll(',', ', ')}`,
    ],
  ];
}

function failures({ failures: counts }: BenchmarkRecord): ReportSection[] {
  if (counts.length === 0) return [];
  return [
    {
      kind: 'table',
      title: 'Failures',
      columns: [{ name: 'error' }, { name: 'requests', align: 'right' }, { name: 'first message' }],
      rows: counts.map(({ error, count, example }) => [error, count, example.slice(0, 300)]),
    },
  ];
}

function timeline(log: RequestLog): GanttSection {
  const { rows, which } = chosenRows(log);
  return {
    kind: 'gantt',
    title: 'Requests from sending to last token',
    note: `${which} Hover a bar for its length and tokens.`,
    phases: [
      { name: 'until the first token', tone: 'queue' },
      { name: 'tokens', tone: 'decode' },
    ],
    rows: rows
      .filter((row) => log.firstTokenUs.at(row) !== NEVER && log.finishUs.at(row) !== NEVER)
      .map((row) => ({
        label: `#${row}`,
        startMs: usToMs(log.arrivalUs.at(row)),
        spansMs: [
          usToMs(log.firstTokenUs.at(row) - log.arrivalUs.at(row)),
          usToMs(log.finishUs.at(row) - log.firstTokenUs.at(row)),
        ],
        detail: `${log.promptTokens[row]} prompt tokens, ${log.emittedTokens[row]} output tokens`,
      })),
  };
}

function generator({ lateness, countedBy }: BenchmarkRecord): KeyValuesSection {
  const { schedule_lag_ms: lag, event_loop_delay_ms: loop, cpu_share } = lateness;
  return {
    kind: 'keyValues',
    title: 'Load generator',
    note:
      'The error of the generator itself: the delay of its requests, and the delay with which ' +
      'its event loop may have stamped events.',
    look: 'list',
    entries: [
      ['requests sent late, p50 / p99 / max', span(lag)],
      ['event loop delay, p50 / p99 / max', span(loop)],
      ['processor', `${formatShare(cpu_share)} of one core`],
      [
        'output tokens counted by',
        countedBy.events === 0 ? 'usage' : `events in ${formatNumber(countedBy.events)} answers`,
      ],
    ],
  };
}

function span({ p50, p99, max }: { p50: number; p99: number; max: number }): string {
  return [p50, p99, max].map(formatMs).join(' / ');
}
