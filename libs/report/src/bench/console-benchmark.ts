import {
  type BenchmarkFigures,
  type BenchmarkRecord,
  type LateFigureName,
  type Lateness,
  OBJECTIVES,
  percentileName,
  type Slo,
} from '@baton/analysis';
import { CONSOLE_WIDTH, wrapWords } from '../console-width';
import { formatMs, formatShare } from '../format-number';

const WIDTH = 50;
const NAME_WIDTH = 40;

const LATENCY_NAMES = {
  ttft: ['Time to First Token', 'TTFT'],
  tpot: ['Time per Output Token (excl. 1st token)', 'TPOT'],
  itl: ['Inter-token Latency', 'ITL'],
  e2el: ['End-to-end Latency', 'E2EL'],
} as const;

/** The figures that lateness makes wrong, in words: `TTFT, E2EL, throughput`. */
export function lateFiguresText({ void_figures: figures }: Pick<Lateness, 'void_figures'>): string {
  return figures.map((name) => (name === 'throughput' ? name : LATENCY_NAMES[name][1])).join(', ');
}

/** The figures that decide whether a request counts in goodput. */
export function goodputFigures(slo: Slo | undefined): LateFigureName[] {
  return ['throughput', ...OBJECTIVES.filter((name) => slo?.[name] !== undefined)];
}

export interface ConsoleBenchmark {
  readonly run: BenchmarkRecord;
  readonly figures: BenchmarkFigures;
  readonly percentiles: readonly number[];
  /** The objectives of goodput. Undefined: none. */
  readonly slo: Slo | undefined;
  /** Most requests under way. Undefined: no limit. */
  readonly maxConcurrency: number | undefined;
  /** Requested requests per second. Undefined: those of the workload. */
  readonly requestRate: number | undefined;
}

/**
 * A load run in the form of `vllm bench serve`, line for line. Two parts follow that vLLM lacks:
 * failures by kind, and the generator's own error.
 */
export function consoleBenchmark(benchmark: ConsoleBenchmark): string {
  const { run, figures, percentiles, slo, maxConcurrency, requestRate } = benchmark;
  const rate = (name: string, value: number): string =>
    line(name, fixed(value) + mark(run.lateness, ['throughput']));
  return [
    rule('=', ' Serving Benchmark Result '),
    line('Successful requests:', figures.completed),
    line('Failed requests:', figures.failed),
    ...(maxConcurrency === undefined ? [] : [line('Maximum request concurrency:', maxConcurrency)]),
    ...(requestRate === undefined || requestRate === Infinity
      ? []
      : [line('Request rate configured (RPS):', fixed(requestRate))]),
    line('Benchmark duration (s):', fixed(figures.duration)),
    line('Total input tokens:', figures.total_input_tokens),
    line('Total generated tokens:', figures.total_output_tokens),
    rate('Request throughput (req/s):', figures.request_throughput),
    ...(figures.request_goodput === null
      ? []
      : [
          line(
            'Request goodput (req/s):',
            fixed(figures.request_goodput) + mark(run.lateness, goodputFigures(slo)),
          ),
        ]),
    rate('Output token throughput (tok/s):', figures.output_throughput),
    rate('Peak output token throughput (tok/s):', figures.max_output_tokens_per_s),
    line('Peak concurrent requests:', fixed(figures.max_concurrent_requests)),
    rate('Total token throughput (tok/s):', figures.total_token_throughput),
    ...latencyLines(figures, percentiles, run.lateness),
    ...generatorLines(run),
    rule('=', ''),
    '',
  ].join('\n');
}

/** Behind a figure that one of these makes void. */
function mark({ void_figures: figures }: Lateness, names: readonly LateFigureName[]): string {
  return names.some((name) => figures.includes(name)) ? '  VOID' : '';
}

function latencyLines(
  figures: BenchmarkFigures,
  percentiles: readonly number[],
  lateness: Lateness,
): string[] {
  return OBJECTIVES.flatMap((name) => {
    const figure = (statistic: string): number | undefined => figures[`${statistic}_${name}_ms`];
    if (figure('mean') === undefined) return [];
    const [long, short] = LATENCY_NAMES[name];
    const figureLine = (statistic: string, label: string): string =>
      line(`${label} ${short} (ms):`, fixed(figure(statistic) ?? 0) + mark(lateness, [name]));
    return [
      rule('-', long),
      figureLine('mean', 'Mean'),
      figureLine('median', 'Median'),
      ...percentiles.map((each) =>
        figureLine(percentileName(each), percentileName(each).toUpperCase()),
      ),
    ];
  });
}

function generatorLines({ failures, lateness, countedBy }: BenchmarkRecord): string[] {
  const { schedule_lag_ms: lag, event_loop_delay_ms: loop, cpu_share } = lateness;
  return [
    ...(failures.length === 0 ? [] : [rule('-', 'Failures')]),
    ...failures.map(({ error, count, example }) =>
      cut(line(`${error}:`, `${count}  ${example.replaceAll(/\s+/g, ' ')}`)),
    ),
    rule('-', 'Load generator'),
    line('Requests sent late, p50 / p99:', `${formatMs(lag.p50)} / ${formatMs(lag.p99)}`),
    line('Event loop delay, p50 / p99:', `${formatMs(loop.p50)} / ${formatMs(loop.p99)}`),
    line('Processor, of one core:', formatShare(cpu_share)),
    ...(countedBy.events === 0
      ? []
      : [line('Answers without usage:', `${countedBy.events}, one token per event`)]),
    ...(lateness.void === null
      ? []
      : [wrapWords(`VOID: ${lateFiguresText(lateness)}: ${lateness.void}.`).trimEnd()]),
  ];
}

function line(name: string, value: string | number): string {
  return `${name.padEnd(NAME_WIDTH)} ${value}`;
}

/** The result file has the whole text. */
function cut(text: string): string {
  return text.length <= CONSOLE_WIDTH ? text : `${text.slice(0, CONSOLE_WIDTH - 1)}…`;
}

function rule(character: string, title: string): string {
  const left = Math.floor((WIDTH - title.length) / 2);
  return (character.repeat(left) + title).padEnd(WIDTH, character);
}

function fixed(value: number): string {
  return value.toFixed(2);
}
