import { mean } from '@baton/kernel';
import type { EngineRoleName, EngineSummary, FrontEndSummary, Summary } from '@baton/analysis';
import { consoleTable } from '../console-table';
import { CONSOLE_WIDTH, wrapWords } from '../console-width';
import {
  formatBytes,
  formatMs,
  formatMsInterval,
  formatNumber,
  formatSeconds,
  formatShare,
  formatShareWithInterval,
  formatWithInterval,
} from '../format-number';
import { classTable } from './class-table';
import { costLines } from './cost-sections';
import { intervalsNote, outcomes } from './headline';
import { scalingTable } from './console-scaling';
import { batchSequences, stepTokens } from './engine-sections';
import { stepTimesLines } from './step-times';
import { distributions, LATENCIES, latencyIntervals, STATISTICS } from './latency-sections';

/** Columns of a fact's name. */
const LABEL = 12;

const ROLES: readonly EngineRoleName[] = ['prefill', 'decode', 'aggregated'];

/** A result for the console: the run, its results, the latencies, and the use of the engines. */
export function consoleSummary(summary: Summary, title: string): string {
  const parts = [
    wrapWords(title),
    facts(summary),
    latencyTable(summary),
    engineTable(summary.engines),
  ];
  parts.push(classTable(summary.slo_classes), scalingTable(summary));
  return parts.filter((part) => part !== '').join('\n');
}

function facts(summary: Summary): string {
  const rows = [
    ['requests', `${formatNumber(summary.requests)}: ${outcomes(summary)}`],
    [
      'simulated',
      `${formatSeconds(summary.simulated_seconds)} in ${formatSeconds(summary.wall_seconds)}: ` +
        `${formatNumber(summary.requests_per_wall_second)} requests/s, ` +
        `${formatNumber(summary.steps)} steps`,
    ],
    ...throughput(summary),
    ...goodput(summary),
    kvCache(summary),
    ...kvPool(summary),
    ...stepTimes(summary),
    ...frontEndRow(summary),
    ...(summary.cost === undefined ? [] : costLines(summary.cost)),
    ['intervals', intervalsNote(summary)],
  ];
  return rows.map(([name = '', text = '']) => fact(name, text)).join('');
}

/** A name followed by a text, which may have further lines. */
function fact(name: string, text: string): string {
  const lines = wrapWords(text, CONSOLE_WIDTH - LABEL)
    .trimEnd()
    .split('\n');
  return `${name.padEnd(LABEL)}${lines.join(`\n${' '.repeat(LABEL)}`)}\n`;
}

function kvCache(summary: Summary): string[] {
  const { prefix_hit_rate: share, kv_transfer_bytes: bytes, preemptions, intervals } = summary;
  const cached = formatShareWithInterval(share, intervals.prefix_hit_rate);
  const links = `${formatBytes(bytes)} over links`;
  const text =
    `${cached} of prompt tokens cached, ${links}, ${formatNumber(preemptions)} ` + 'preemptions';
  return ['KV cache', text];
}

/** Hits by tier, and the costs of the pool. */
function kvPool({ kv_pool: pool }: Summary): string[][] {
  if (pool === undefined) return [];
  const { hit_tokens_device: device, hit_tokens_host: host, hit_tokens_global: global } = pool;
  const hits = [device, host, global].map(formatNumber);
  const fetched = `${formatBytes(pool.fetched_bytes)} in ${formatSeconds(pool.fetch_seconds)}`;
  const stored = `${formatNumber(pool.stored_blocks)} blocks stored`;
  return [
    ['KV pool', `hits in tokens: ${hits[0]} device, ${hits[1]} host, ${hits[2]} global`],
    ['', `${fetched} fetched, ${formatNumber(pool.declined_fetches)} fetches declined`],
    ['', `${stored}, ${formatNumber(pool.evicted_blocks)} evicted`],
  ];
}

function throughput(summary: Summary): string[][] {
  const { intervals } = summary;
  const rate = (name: 'request_rps' | 'output_tokens_per_second' | 'total_tokens_per_second') => {
    return formatWithInterval(summary[name], intervals[name]);
  };
  const [output, total] = [rate('output_tokens_per_second'), rate('total_tokens_per_second')];
  return [
    ['throughput', `${rate('request_rps')} requests/s`],
    ['', `${output} output tokens/s, ${total} tokens/s`],
  ];
}

function goodput(summary: Summary): string[][] {
  const { slo, slo_attainment, goodput_rps, goodput_rps_per_gpu, intervals } = summary;
  if (slo === null) return [];
  const rate = formatWithInterval(goodput_rps, intervals.goodput_rps);
  const perGpu = formatWithInterval(goodput_rps_per_gpu, intervals.goodput_rps_per_gpu);
  const attained = formatShareWithInterval(slo_attainment, intervals.slo_attainment);
  return [
    ['goodput', `${rate} requests/s, ${perGpu} per GPU`],
    ['', `${attained} meet ${slo}`],
  ];
}

/** One line per step-time model; pools with the same model share a line. */
function stepTimes({ step_times = [] }: Summary): string[][] {
  return stepTimesLines(step_times).map((line) => ['step times', line]);
}

function frontEndRow({ front_end: frontEnd, phase_means_ms: means }: Summary): string[][] {
  if (frontEnd === undefined) return [];
  const { front_end: before = null, dispatch = null } = means;
  const between = dispatch === null ? '' : `, ${formatMs(dispatch)} at the hand-over`;
  return [['front end', `${frontEndLine(frontEnd)}; mean ${formatMs(before)}${between}`]];
}

/** `vllm: 5.7 ms a request + 6.3 µs a prompt token, serial dispatch`. */
export function frontEndLine(frontEnd: FrontEndSummary): string {
  const { name, request_ms, prompt_token_us, dispatch } = frontEnd;
  const pass = `${request_ms} ms a request + ${prompt_token_us} µs a prompt token`;
  return `${name}: ${pass}, ${dispatch} dispatch`;
}

/** Two lines per latency: the figures, and below them their intervals in the same unit. */
function latencyTable(summary: Summary): string {
  const all = distributions(summary);
  const ends = latencyIntervals(summary);
  const columns = ['latency', ...STATISTICS].map((name, i) => {
    return { name, align: i === 0 ? ('left' as const) : ('right' as const) };
  });
  const rows = LATENCIES.flatMap(([name, short]) => [
    [short, ...STATISTICS.map((statistic) => formatMs(all[name][statistic]))],
    ['', ...STATISTICS.map((each) => formatMsInterval(all[name][each], ends[name][each]))],
  ]);
  return consoleTable(columns, rows);
}

/**
 * One line per role: the share of time in steps, and how full batches, steps and KV are. The JSON
 * and the report list each engine.
 */
function engineTable(engines: readonly EngineSummary[]): string {
  const rows = ROLES.flatMap((role) => {
    const pool = engines.filter((engine) => engine.role === role);
    return pool.length === 0 ? [] : [poolRow(role, pool)];
  });
  if (rows.length === 0) return '';
  const names = [
    'engines',
    'GPUs',
    'in steps',
    'lowest',
    'highest',
    'batch',
    'tokens/step',
    'KV mean',
    'KV max',
  ];
  const columns = names.map((name, i) => {
    return { name, align: i === 0 ? ('left' as const) : ('right' as const) };
  });
  return consoleTable(columns, rows);
}

function poolRow(role: EngineRoleName, pool: readonly EngineSummary[]): (string | number)[] {
  const busy = pool.map((engine) => engine.utilisation ?? 0);
  const usage = pool.map((engine) => engine.kv_usage_mean ?? 0);
  return [
    `${pool.length} ${role}`,
    pool.reduce((sum, engine) => sum + engine.gpus, 0),
    formatShare(mean(busy)),
    formatShare(Math.min(...busy)),
    formatShare(Math.max(...busy)),
    batchSequences(pool),
    stepTokens(pool),
    formatShare(mean(usage)),
    formatShare(Math.max(...pool.map((engine) => engine.kv_usage_max ?? 0))),
  ];
}
