import { countIn, type JsonFields, isObject } from '@baton/kernel';
import { UsageError } from '@baton/config';
import type { InputOptions, Measured } from './measured';
import { notesOfRequests } from './request-notes';
import { type RequestTiming, stepsOfRequests } from './request-steps';
import { stepsOfRun } from './run-steps';

const MS_PER_SECOND = 1000;

/**
 * Reports of guidellm (`benchmarks.json` or `.yaml`). A request has only its mean gap between
 * tokens, so it counts only when no prompt was computed during its answer. A benchmark without
 * requests gives one point.
 */
export function readGuidellm(path: string, document: unknown, options: InputOptions): Measured {
  const benchmarks = isObject(document) ? document['benchmarks'] : undefined;
  if (!Array.isArray(benchmarks)) throw new UsageError(`${path} has no list of benchmarks.`);
  const parts = (benchmarks as unknown[])
    .filter(isObject)
    .map((benchmark) => readBenchmark(path, benchmark, options));
  return { steps: parts.flatMap(({ steps }) => steps), notes: parts.flatMap(({ notes }) => notes) };
}

function readBenchmark(path: string, benchmark: JsonFields, options: InputOptions): Measured {
  const successful = within(benchmark, 'requests', 'successful');
  const listed = Array.isArray(successful) ? (successful as unknown[]) : [];
  const requests = listed.filter(isObject).flatMap((request) => timingOf(request) ?? []);
  if (requests.length === 0) return readSummary(path, benchmark);
  const found = stepsOfRequests(requests, options.maxNumBatchedTokens);
  return { steps: found.steps, notes: notesOfRequests(path, requests.length, found) };
}

function timingOf(request: JsonFields): RequestTiming | undefined {
  const start = countIn(request['request_start_time']) ?? countIn(request['start_time']);
  const ttftMs = countIn(request['time_to_first_token_ms']);
  const gapMs = countIn(request['inter_token_latency_ms']) ?? 0;
  const inputTokens = countIn(request['prompt_tokens']);
  const outputTokens = countIn(request['output_tokens']);
  if (start === undefined || !ttftMs || !inputTokens || !outputTokens) return undefined;
  return {
    startMs: start * MS_PER_SECOND,
    ttftMs,
    gapsMs: new Float64Array(outputTokens - 1).fill(gapMs),
    inputTokens,
    outputTokens,
    isAveraged: true,
  };
}

function readSummary(path: string, benchmark: JsonFields): Measured {
  const figure = (metric: string, statistic: string): number | undefined =>
    countIn(within(benchmark, 'metrics', metric, 'successful', statistic));
  const input = figure('prompt_token_count', 'mean');
  const output = figure('output_token_count', 'mean');
  if (input === undefined || output === undefined) {
    throw new UsageError(
      `${path} has a benchmark with neither requests nor prompt_token_count and ` +
        'output_token_count.',
    );
  }
  const concurrency = figure('request_concurrency', 'mean');
  const { steps, note } = stepsOfRun({
    concurrency: concurrency === undefined ? undefined : Math.max(1, Math.round(concurrency)),
    outputTokensPerSecond: figure('output_tokens_per_second', 'mean'),
    meanTokenGapMs: figure('inter_token_latency_ms', 'mean'),
    medianTokenGapMs: figure('inter_token_latency_ms', 'median'),
    medianTtftMs: figure('time_to_first_token_ms', 'median'),
    meanInputTokens: input,
    meanOutputTokens: output,
  });
  return { steps, notes: [`${path}: ${note}.`] };
}

function within(from: JsonFields, ...keys: readonly string[]): unknown {
  let value: unknown = from;
  for (const key of keys) value = isObject(value) ? value[key] : undefined;
  return value;
}
