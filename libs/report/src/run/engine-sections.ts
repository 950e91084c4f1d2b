import type {
  EngineRoleName,
  EngineSummary,
  RunRecord,
  SeriesRecord,
  Summary,
} from '@baton/analysis';
import { mean, usToSeconds } from '@baton/kernel';
import { formatBytes, formatNumber, formatShare } from '../format-number';
import type {
  BarsSection,
  LineChartSection,
  ReportSection,
  Series,
  TableSection,
} from '../sections';
import { averaged } from './averaged';

const ROLES = ['prefill', 'decode', 'aggregated'] as const;
const GAUGES = [
  ['kvUsage', 'KV usage', '% of blocks', 100],
  ['running', 'Running', 'sequences', 1],
  ['waiting', 'Waiting', 'sequences', 1],
  ['heldBlocks', 'Held for decode', 'blocks', 1],
] as const;

const MOST_POINTS = 600;
/** Engines of one role above which a chart shows their mean and extremes. */
const MOST_LINES = 12;
const MOST_BARS = 32;

/** Time in steps and occupancy of the engines, over the run and over time. */
export function engineSections(run: RunRecord, summary: Summary): ReportSection[] {
  const roles = ROLES.filter((role) => run.engines.some((engine) => engine.role === role));
  const gauges = GAUGES.flatMap((gauge) =>
    roles
      .filter((role) => gauge[0] !== 'heldBlocks' || role === 'prefill')
      .map((role) => gaugeChart(run, role, gauge)),
  );
  const { engines } = summary;
  return [timeInSteps(engines), fullness(engines), ...gauges, totals(engines)];
}

/** Tokens in a mean step of some engines, and their share of the limit; `–` without steps. */
export function stepTokens(engines: readonly EngineSummary[]): string {
  const steps = engines.reduce((sum, engine) => sum + engine.steps, 0);
  if (steps === 0) return formatNumber(null);
  const perStep = (value: (engine: EngineSummary) => number): number =>
    engines.reduce((sum, engine) => sum + engine.steps * value(engine), 0) / steps;
  const tokens = (engine: EngineSummary): number => engine.tokens_per_step ?? 0;
  return withShare(
    perStep(tokens),
    perStep((engine) => tokens(engine) / engine.max_num_batched_tokens),
  );
}

/** Sequences in a mean batch of some engines, and their share of the limit. */
export function batchSequences(engines: readonly EngineSummary[]): string {
  const running = (engine: EngineSummary): number => engine.running_mean ?? 0;
  return withShare(
    mean(engines.map(running)),
    mean(engines.map((engine) => running(engine) / engine.max_num_seqs)),
  );
}

function withShare(value: number, share: number): string {
  return `${formatNumber(value)} (${formatShare(share)})`;
}

function timeInSteps(engines: readonly EngineSummary[]): BarsSection {
  const shown = engines.slice(0, MOST_BARS);
  const rest = engines.length - shown.length;
  const others = rest > 0 ? `; ${rest} more engines stand in the table` : '';
  return {
    kind: 'bars',
    title: 'Time in steps',
    note:
      'Share of time with a step under way: how busy, not how full an engine is. A step with one ' +
      `token is a step${others}.`,
    width: 'half',
    full: 1,
    bars: shown.map(({ engine, utilisation: value, role }) => {
      return { label: engine, value, text: formatShare(value), tone: role };
    }),
  };
}

function gaugeChart(
  { engines, series }: RunRecord,
  role: EngineRoleName,
  [gauge, title, label, factor]: (typeof GAUGES)[number],
): LineChartSection {
  const rows = engines.flatMap((engine, row) => (engine.role === role ? [row] : []));
  const points = Math.min(MOST_POINTS, series.samples);
  const curves = rows.map((row) => {
    const from = row * series.samples;
    const values = series[gauge].subarray(from, from + series.samples);
    return averaged(values, points).map((value) => value * factor);
  });
  const names = rows.map((row) => engines[row]!.engineId);
  return {
    kind: 'lineChart',
    title: `${title}, ${role}`,
    width: 'half',
    x: { label: 'simulated seconds' },
    y: { label },
    xs: instants(series, points),
    series: curves.length > MOST_LINES ? envelope(curves, role) : lines(curves, names, role),
  };
}

function instants({ startUs, intervalUs, samples }: SeriesRecord, points: number): number[] {
  const perPoint = samples / points;
  return Array.from({ length: points }, (_none, i) => {
    return usToSeconds(startUs + (i + 0.5) * perPoint * intervalUs);
  });
}

function lines(
  curves: readonly number[][],
  names: readonly string[],
  tone: EngineRoleName,
): Series[] {
  return curves.map((values, i) => ({ name: names[i]!, values, tone }));
}

function envelope(curves: readonly number[][], tone: EngineRoleName): Series[] {
  const across = (merge: (values: number[]) => number): number[] =>
    curves[0]!.map((_value, point) => merge(curves.map((curve) => curve[point]!)));
  return [
    { name: 'highest', values: across((values) => Math.max(...values)), tone, style: 'dashed' },
    { name: `mean of ${curves.length}`, values: across(mean), tone },
    { name: 'lowest', values: across((values) => Math.min(...values)), tone, style: 'dashed' },
  ];
}

/** The columns of a table of engines: each has a name, and reads its cell. */
type EngineColumn = [string, (engine: EngineSummary) => string | number | null];

function fullness(engines: readonly EngineSummary[]): TableSection {
  return {
    title: 'How full engines are',
    note:
      'Mean sequences in a batch with their share of max_num_seqs, mean tokens in a step with ' +
      'their share of max_num_batched_tokens, and the KV blocks in use.',
    width: 'half',
    ...engineTable(engines, [
      ['batch', (each) => batchSequences([each])],
      ['tokens/step', (each) => stepTokens([each])],
      ['KV mean', (each) => formatShare(each.kv_usage_mean)],
      ['KV max', (each) => formatShare(each.kv_usage_max)],
    ]),
  };
}

function totals(engines: readonly EngineSummary[]): TableSection {
  return {
    title: 'Engines',
    note: 'Prompt and generated in tokens.',
    ...engineTable(engines, [
      ['GPUs', (each) => each.gpus],
      ['steps', (each) => each.steps],
      ['in steps', (each) => formatShare(each.utilisation)],
      ['finished', (each) => each.finished],
      ['prompt computed', (each) => each.prompt_tokens_computed],
      ['cached', (each) => each.prompt_tokens_cached],
      ['transferred', (each) => each.prompt_tokens_transferred],
      ['generated', (each) => each.generated_tokens],
      ['KV moved', (each) => formatBytes(each.kv_transfer_bytes)],
      ['preemptions', (each) => each.preemptions],
      ['lease expiries', (each) => each.lease_expiries],
    ]),
  };
}

function engineTable(
  engines: readonly EngineSummary[],
  columns: readonly EngineColumn[],
): Pick<TableSection, 'kind' | 'columns' | 'rows'> {
  return {
    kind: 'table',
    columns: [
      { name: 'engine', align: 'left' },
      ...columns.map(([name]) => ({ name, align: 'right' as const })),
    ],
    rows: engines.map((engine) => [engine.engine, ...columns.map(([, read]) => read(engine))]),
  };
}
