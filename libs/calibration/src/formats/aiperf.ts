import { countIn, csvFields, type JsonFields, isObject } from '@baton/kernel';
import { UsageError } from '@baton/config';
import type { InputOptions, Measured } from './measured';
import { notesOfRequests } from './request-notes';
import { type RequestTiming, stepsOfRequests } from './request-steps';
import { stepsOfRun } from './run-steps';

const NS_PER_MS = 1e6;
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1000,
  sec: 1000,
};

/** Records of aiperf, one request per line (`profile_export.jsonl`). */
export function readAiperfRecords(
  path: string,
  records: readonly unknown[],
  options: InputOptions,
): Measured {
  const requests = records.filter(isObject).flatMap((record) => timingOf(record) ?? []);
  if (requests.length === 0) {
    throw new UsageError(
      `${path} has no record of a finished request with time_to_first_token and both ` +
        'sequence lengths.',
    );
  }
  const found = stepsOfRequests(requests, options.maxNumBatchedTokens);
  return { steps: found.steps, notes: notesOfRequests(path, requests.length, found) };
}

/** The summary of a run (`profile_export_aiperf.json`): one point. */
export function readAiperfSummary(path: string, summary: JsonFields): Measured {
  const figure = (metric: string, ...statistics: readonly string[]): number | undefined => {
    const block = summary[metric];
    if (!isObject(block)) return undefined;
    const value = statistics.map((name) => countIn(block[name])).find((each) => each !== undefined);
    return value === undefined ? undefined : value * (MS_PER_UNIT[String(block['unit'])] ?? 1);
  };
  return pointOf(path, figure);
}

/**
 * Reads AIPerf's summary as CSV: rows of `Metric (unit),avg,min,max,…`, then rows of `Metric
 * (unit),value`.
 */
export function readAiperfCsv(path: string, text: string): Measured {
  const summary: Record<string, Record<string, unknown>> = {};
  let header: readonly string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [name = '', ...cells] = csvFields(line);
    if (name === 'Metric') {
      header = cells.map((cell) => (cell === 'Value' ? 'avg' : cell));
      continue;
    }
    const [, title = '', unit = ''] = /^(.*?)\s*(?:\((.*)\))?$/.exec(name) ?? [];
    const values = header.map((statistic, i) => [
      statistic,
      cells[i] ? Number(cells[i]) : undefined,
    ]);
    summary[tagOf(title)] = { unit, ...Object.fromEntries(values) };
  }
  return readAiperfSummary(path, summary);
}

/** `Time to First Token` is `time_to_first_token` elsewhere. */
function tagOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '_');
}

function pointOf(
  path: string,
  figure: (metric: string, ...statistics: readonly string[]) => number | undefined,
): Measured {
  const input = figure('input_sequence_length', 'avg');
  const output = figure('output_sequence_length', 'avg');
  if (input === undefined || output === undefined) {
    throw new UsageError(
      `${path} is not a summary of aiperf: input_sequence_length or output_sequence_length ` +
        'is missing.',
    );
  }
  const rate = figure('output_token_throughput', 'avg');
  const gapMs = figure('inter_token_latency', 'avg');
  const { steps, note } = stepsOfRun({
    concurrency: figure('request_count', 'avg') === 1 ? 1 : undefined,
    outputTokensPerSecond: rate,
    meanTokenGapMs: gapMs,
    medianTokenGapMs: figure('inter_token_latency', 'p50', 'avg'),
    medianTtftMs: figure('time_to_first_token', 'p50', 'avg'),
    meanInputTokens: input,
    meanOutputTokens: output,
  });
  return { steps, notes: [`${path}: ${note}.`] };
}

function timingOf(record: JsonFields): RequestTiming | undefined {
  const { metadata, metrics, error } = record;
  if (!isObject(metadata) || !isObject(metrics) || (error ?? null) !== null) return undefined;
  if (metadata['was_cancelled'] === true || metadata['benchmark_phase'] === 'warmup') {
    return undefined;
  }
  const startNs = countIn(metadata['request_start_ns']);
  const ttftMs = countIn(valueOf(metrics, 'time_to_first_token'));
  const inputTokens = countIn(valueOf(metrics, 'input_sequence_length'));
  const outputTokens = countIn(valueOf(metrics, 'output_sequence_length'));
  if (startNs === undefined || !ttftMs || !inputTokens || !outputTokens) return undefined;
  return {
    startMs: startNs / NS_PER_MS,
    ttftMs,
    inputTokens,
    outputTokens,
    ...gapsOf(metrics, outputTokens),
  };
}

/** Gaps between pieces if exported, else their mean. */
function gapsOf(
  metrics: JsonFields,
  outputTokens: number,
): Pick<RequestTiming, 'gapsMs' | 'isAveraged'> {
  const gaps = valueOf(metrics, 'inter_chunk_latency');
  if (Array.isArray(gaps)) return { gapsMs: (gaps as unknown[]).map((gap) => countIn(gap) ?? 0) };
  const meanMs = countIn(valueOf(metrics, 'inter_token_latency')) ?? 0;
  return { gapsMs: new Float64Array(outputTokens - 1).fill(meanMs), isAveraged: true };
}

/** The value of a metric; times in milliseconds. */
function valueOf(metrics: JsonFields, name: string): unknown {
  const metric = metrics[name];
  if (!isObject(metric)) return undefined;
  const factor = MS_PER_UNIT[String(metric['unit'])] ?? 1;
  const { value } = metric;
  if (Array.isArray(value)) return (value as unknown[]).map((each) => Number(each) * factor);
  return typeof value === 'number' ? value * factor : value;
}
