import { countIn, type JsonFields, isObject } from '@baton/kernel';
import type { MeasuredStep } from '../fits/measured-step';
import { UsageError } from '@baton/config';
import type { InputOptions, Measured } from './measured';
import { notesOfRequests, sequentially } from './request-notes';
import { type RequestTiming, stepsOfRequests } from './request-steps';
import { stepsOfRun } from './run-steps';

const MS_PER_SECOND = 1000;

/**
 * Results of `vllm bench serve --save-result`. With `--save-detailed` and start times (vLLM 0.11
 * and later) every interval of an unchanged batch gives a decode point, and each request that ran
 * alone a prefill point. One request at a time needs no start times. A run without details gives
 * one point.
 */
export function readVllmBench(
  path: string,
  documents: readonly unknown[],
  options: InputOptions,
): Measured {
  const parts = documents.map((document) => {
    if (isObject(document)) return readRun(path, document, options);
    throw new UsageError(`${path} holds an entry that is not a result of vllm bench serve.`);
  });
  return { steps: parts.flatMap(({ steps }) => steps), notes: parts.flatMap(({ notes }) => notes) };
}

function readRun(path: string, run: JsonFields, options: InputOptions): Measured {
  const requests = requestsOf(run);
  if (requests === undefined || requests.length === 0) return readSummary(path, run);
  const found = stepsOfRequests(requests, options.maxNumBatchedTokens);
  return { steps: found.steps, notes: notesOfRequests(path, requests.length, found) };
}

/** Undefined when the result has no details, or they have no place in time. */
function requestsOf(run: JsonFields): RequestTiming[] | undefined {
  const { input_lens: inputs, output_lens: outputs, ttfts, itls, start_times: starts } = run;
  if (![inputs, outputs, ttfts, itls].every(Array.isArray)) return undefined;
  const errors = Array.isArray(run['errors']) ? (run['errors'] as unknown[]) : [];
  const isSequential = countIn(run['max_concurrency']) === 1;
  if (!Array.isArray(starts) && !isSequential) return undefined;
  const requests = (inputs as unknown[]).flatMap((inputTokens, i) => {
    if (errors[i]) return [];
    const timing = timingOf({
      inputTokens,
      outputTokens: (outputs as unknown[])[i],
      ttft: (ttfts as unknown[])[i],
      gaps: (itls as unknown[])[i],
      start: Array.isArray(starts) ? (starts as unknown[])[i] : 0,
    });
    return timing ? [timing] : [];
  });
  return Array.isArray(starts) ? requests : sequentially(requests);
}

/** A request of the result, times in seconds. Undefined when it got no token. */
function timingOf(request: Readonly<Record<string, unknown>>): RequestTiming | undefined {
  const [input, output, ttft, start] = ['inputTokens', 'outputTokens', 'ttft', 'start'].map((key) =>
    countIn(request[key]),
  );
  const { gaps } = request;
  if (!input || !output || !ttft || start === undefined || !Array.isArray(gaps)) return undefined;
  return {
    startMs: start * MS_PER_SECOND,
    ttftMs: ttft * MS_PER_SECOND,
    gapsMs: (gaps as unknown[]).map((gap) => (countIn(gap) ?? 0) * MS_PER_SECOND),
    inputTokens: input,
    outputTokens: output,
  };
}

function readSummary(path: string, run: JsonFields): Measured {
  const [completed, input, output] = ['completed', 'total_input_tokens', 'total_output_tokens'].map(
    (key) => countIn(run[key]),
  );
  if (!completed || input === undefined || output === undefined) {
    throw new UsageError(
      `${path} is not a result of vllm bench serve: completed, total_input_tokens or ` +
        'total_output_tokens is missing.',
    );
  }
  const { steps, note } = stepsOfRun({
    concurrency: countIn(run['max_concurrency']),
    outputTokensPerSecond: countIn(run['output_throughput']),
    meanTokenGapMs: countIn(run['mean_itl_ms']) ?? countIn(run['mean_tpot_ms']),
    medianTokenGapMs: countIn(run['median_itl_ms']) ?? countIn(run['median_tpot_ms']),
    medianTtftMs: countIn(run['median_ttft_ms']) ?? countIn(run['mean_ttft_ms']),
    meanInputTokens: input / completed,
    meanOutputTokens: output / completed,
  });
  const hint = Array.isArray(run['itls']) ? 'no start times' : 'not saved with --save-detailed';
  return { steps: steps satisfies readonly MeasuredStep[], notes: [`${path} (${hint}): ${note}.`] };
}
