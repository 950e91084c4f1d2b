import {
  type BenchmarkFigures,
  outcomeCode,
  type StepTimesSummary,
  summarise,
} from '@baton/analysis';
import { usToSeconds, VERSION } from '@baton/kernel';
import type { LoadRecord } from '@baton/loadgen';
import { shownWorkload } from '@baton/replay';
import type { PreparedBench } from './prepare-bench';
import { classesOf } from './slo-classes';

/** A run, and the step-time models of the server. Empty when the server simulates no steps. */
export interface MeasuredLoad extends LoadRecord {
  readonly stepTimes: readonly StepTimesSummary[];
}

export type ResultDocument = Readonly<Record<string, unknown>>;

/**
 * The result with the names of `vllm bench serve`, then Baton's own figures. docs/bench.md defines
 * each.
 */
export function resultDocument(
  prepared: PreparedBench,
  record: MeasuredLoad,
  figures: BenchmarkFigures,
): ResultDocument {
  const { flags, model, loaded, tokenizer } = prepared;
  const { server, maxConcurrency, result } = flags;
  return {
    date: compactDate(new Date()),
    endpoint_type: server.backend,
    backend: server.backend,
    label: result.label ?? null,
    model_id: model,
    tokenizer_id: tokenizer,
    num_prompts: loaded.workload.count,
    ...result.metadata,
    ...rateEntries(prepared),
    max_concurrency: maxConcurrency ?? null,
    ...figures,
    ...(record.details === undefined ? {} : detailEntries(record)),
    ...ownEntries(prepared, record),
  };
}

/** The settings by flag. Headers are left out, because they may contain a key. */
export function settingsOf(prepared: PreparedBench): Readonly<Record<string, unknown>> {
  const { flags, model, loaded, ignoreEos, tokenizer } = prepared;
  const { server } = flags;
  return {
    base_url: server.origin + server.prefix,
    endpoint: server.endpoint,
    backend: server.backend,
    model,
    tokenizer,
    ignore_eos: ignoreEos,
    seed: flags.seed,
    ...(flags.maxConcurrency === undefined ? {} : { max_concurrency: flags.maxConcurrency }),
    num_warmups: flags.numWarmups,
    ...(Object.keys(server.extraBody).length === 0 ? {} : { extra_body: server.extraBody }),
    workload: shownWorkload(loaded, flags.workload),
    baton: VERSION,
  };
}

/** The requested rate in requests per second. Undefined: the workload has its own instants. */
export function requestRateOf({ flags, loaded }: PreparedBench): number | undefined {
  const { requestRate } = flags.workload;
  if (requestRate === undefined) return loaded.source.kind === 'trace' ? undefined : Infinity;
  return /^\+?inf/i.test(requestRate) ? Infinity : Number(requestRate);
}

function rateEntries(prepared: PreparedBench): ResultDocument {
  const { burstiness, rampUpStartRps, rampUpEndRps, rampUpStrategy } = prepared.flags.workload;
  const rate = requestRateOf(prepared);
  const isRamp = rampUpStartRps !== undefined;
  return {
    request_rate: rate === Infinity ? 'inf' : (rate ?? null),
    burstiness: Number(burstiness ?? 1),
    ...(isRamp
      ? {
          ramp_up_strategy: rampUpStrategy ?? 'linear',
          ramp_up_start_rps: Number(rampUpStartRps),
          ramp_up_end_rps: Number(rampUpEndRps),
        }
      : {}),
  };
}

/**
 * Lists with one entry per request, in order of the workload; times in seconds. A request without a
 * whole answer has lengths of 0 and no gaps, as in vLLM.
 */
function detailEntries({ run, details = [] }: LoadRecord): ResultDocument {
  const { log } = run;
  const rows = details.map((_detail, row) => row);
  const completed = outcomeCode('completed');
  const ifWhole = (row: number, value: number): number => {
    return log.outcome[row] === completed ? value : 0;
  };
  const ttft = (row: number): number => log.firstTokenUs.at(row) - log.arrivalUs.at(row);
  return {
    input_lens: rows.map((row) => log.promptTokens[row]),
    output_lens: rows.map((row) => ifWhole(row, log.emittedTokens[row]!)),
    ttfts: rows.map((row) => usToSeconds(ifWhole(row, ttft(row)))),
    itls: details.map(({ gapsUs }) => gapsUs.map(usToSeconds)),
    start_times: rows.map((row) => usToSeconds(Math.max(0, log.arrivalUs.at(row)))),
    generated_texts: details.map(({ text }) => text),
    errors: details.map(({ error }) => error),
  };
}

function ownEntries(
  prepared: PreparedBench,
  { run, wasInterrupted, stepTimes }: MeasuredLoad,
): ResultDocument {
  const { slo, classSlos, seed } = prepared.flags;
  const classes = classesOf(prepared.loaded.workload, classSlos);
  const options = { gpus: 1, seed, wallSeconds: usToSeconds(run.endUs), classes };
  const summary = summarise(run, slo === undefined ? options : { ...options, slo });
  return {
    requests: summary.requests,
    unfinished: summary.unfinished,
    was_interrupted: wasInterrupted,
    ttft_ms: summary.ttft_ms,
    tpot_ms: summary.tpot_ms,
    itl_ms: summary.itl_ms,
    e2el_ms: summary.e2el_ms,
    slo: summary.slo,
    slo_attainment: summary.slo_attainment,
    ...(summary.slo_classes && { slo_classes: summary.slo_classes }),
    failures: run.failures,
    load_generator: run.lateness,
    output_tokens_counted_by: run.countedBy,
    server_prompt_tokens: run.promptUsage.requests === 0 ? null : run.promptUsage.tokens,
    server_cached_tokens: run.log.cachedTokens.reduce((sum, tokens) => sum + tokens, 0),
    step_times: stepTimes.length === 0 ? null : stepTimes,
    settings: settingsOf(prepared),
  };
}

/** The reason why a result is void; null when it is valid. */
export function voidReason({ load_generator: load }: ResultDocument): string | null {
  return (load as LoadRecord['run']['lateness']).void;
}

/** `20260821-134501`, UTC. */
function compactDate(date: Date): string {
  return date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}
