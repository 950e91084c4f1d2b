import { usToMs, usToSeconds } from '@baton/kernel';
import { type CostRates, type CostSummary, costSummary } from './costs';
import { type Distribution, distributionOf } from './distribution';
import { type EngineSummary, engineSummary, share } from './engine-summary';
import {
  EXACT_MODEL,
  type FigureIntervals,
  intervalsOf,
  type ModelErrors,
} from './intervals/figure-intervals';
import { type KvPoolSummary, kvPoolSummary } from './kv-pool-summary';
import { measuredLatencies, type MeasuredLatencies } from './intervals/measured-latencies';
import { thinned } from './intervals/thinned';
import { meanPhases, type OfPhases } from './phases';
import { NEVER } from './instants';
import { outcomeCode, OUTCOMES, type Outcome, type RequestLog } from './request-log';
import { roundTo } from './round-to';
import type { EngineRecord, RunRecord } from './run-record';
import { type ScalingOptions, type ScalingSummary, scalingSummary } from './scaling';
import { type ClassOptions, type ClassSummary, classSummaries } from './slo-classes';
import type { StepTimesSummary } from './step-times';
import { attainmentOf, formatSlo, type Objective, type Slo } from './slo';

export interface SummaryOptions {
  /** Objectives of each request. Without them the summary has no goodput. */
  readonly slo?: Slo;
  /** GPUs by which goodput is divided. Default: those of all engines. */
  readonly gpus?: number;
  /** Wall time of the run, seconds. */
  readonly wallSeconds: number;
  readonly seed: number;
  /** The origin of the step times, by role. */
  readonly stepTimes?: readonly StepTimesSummary[];
  /** The servers in front of the engines. Without them the summary has no such part. */
  readonly frontEnd?: FrontEndSummary;
  /** Yardsticks of a run with an autoscaler. */
  readonly scaling?: ScalingOptions;
  /** Objectives by class of request. Without them the summary has no classes. */
  readonly classes?: ClassOptions | undefined;
  /** Prices and watts of the GPUs. Without them the summary has no costs. */
  readonly rates?: CostRates | undefined;
  /** The resolved configuration, repeated in the result. */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * Errors of the step times under the load of the run, in requests under way per engine that
   * generates. Default: none.
   */
  readonly errorsAt?: (load: number) => ModelErrors;
  /** True when requests wait for answers to others before they are sent. */
  readonly isClosedLoop?: boolean;
}

type Rate = number | null;

/** The servers in front of the engines; docs/front-end.md defines each name. */
export interface FrontEndSummary {
  readonly name: string;
  readonly request_ms: number;
  readonly prompt_token_us: number;
  /** Parts of both during which a request occupies a server. */
  readonly request_busy_ms: number;
  readonly prompt_token_busy_us: number;
  /** Server processes of one engine. */
  readonly api_server_count: number;
  readonly dispatch: string;
}

/**
 * The result of a run. docs/replay.md defines each name. A figure without data is null. All figures
 * are functions of scenario and seed, except the two of the wall clock at its end.
 */
export interface Summary {
  readonly requests: number;
  readonly completed: number;
  readonly rejected: number;
  readonly failed: number;
  readonly simulated_seconds: number;
  readonly steps: number;
  readonly ttft_ms: Distribution;
  readonly tpot_ms: Distribution;
  readonly itl_ms: Distribution;
  readonly e2el_ms: Distribution;
  readonly slo_attainment: Rate;
  readonly goodput_rps: Rate;
  readonly goodput_rps_per_gpu: Rate;
  readonly prefix_hit_rate: Rate;
  readonly kv_transfer_bytes: number;
  readonly preemptions: number;
  readonly engines: readonly EngineSummary[];
  readonly refused: number;
  readonly unfinished: number;
  readonly request_rps: Rate;
  readonly output_tokens_per_second: Rate;
  readonly total_tokens_per_second: Rate;
  readonly prompt_tokens: number;
  readonly output_tokens: number;
  readonly phase_means_ms: OfPhases<Rate>;
  readonly slo: string | null;
  readonly slo_attainment_by_objective: Readonly<Partial<Record<Objective, Rate>>>;
  readonly gpus: number;
  readonly events: number;
  readonly seed: number;
  readonly step_times?: readonly StepTimesSummary[];
  readonly front_end?: FrontEndSummary;
  readonly kv_pool?: KvPoolSummary;
  readonly autoscaling?: ScalingSummary;
  readonly slo_classes?: readonly ClassSummary[];
  readonly cost?: CostSummary;
  readonly config?: Readonly<Record<string, unknown>>;
  /** The uncertainty of the figures, by their names. */
  readonly intervals: FigureIntervals;
  readonly wall_seconds: Rate;
  readonly requests_per_wall_second: Rate;
}

/** Condenses a run. It takes about 0.5 s for a million requests, mostly for sorting. */
export function summarise(run: RunRecord, options: SummaryOptions): Summary {
  const part = thinned(run.log);
  const latencies = measuredLatencies(run.log, part);
  const { wall_seconds, requests_per_wall_second, ...figures } = figuresOf(run, latencies, options);
  const { slo, errorsAt, isClosedLoop = false } = options;
  const errors = errorsAt?.(meanLoad(run)) ?? EXACT_MODEL;
  const requested = {
    part,
    latencies,
    errors,
    isClosedLoop,
    ...(slo === undefined ? {} : { slo }),
  };
  return {
    ...figures,
    intervals: intervalsOf(run, figures, requested),
    wall_seconds,
    requests_per_wall_second,
  };
}

/** Mean number of requests under way on an engine that generates, over the run (Little's law). */
function meanLoad({ log, engines, endUs }: RunRecord): number {
  const generating = engines.filter(({ role }) => role !== 'prefill').length;
  let underWayUs = 0;
  for (let row = 0; row < log.count; row++) {
    if (log.finishUs.at(row) !== NEVER) underWayUs += log.finishUs.at(row) - log.arrivalUs.at(row);
  }
  return endUs === 0 || generating === 0 ? 0 : underWayUs / endUs / generating;
}

function figuresOf(
  run: RunRecord,
  latencies: MeasuredLatencies,
  options: SummaryOptions,
): Omit<Summary, 'intervals'> {
  const { log } = run;
  const { completed, rejected, failed, refused, unfinished } = countOutcomes(log);
  const kvPool = kvPoolSummary(run.engines);
  const autoscaling = options.scaling && scalingSummary(run, options.scaling);
  const gpus = gpusOf(run, options, autoscaling);
  const { slo_attainment, by_objective, ...goodput } = goodputOf(run, gpus, options.slo);
  const served = throughput(run, completed);
  return {
    requests: log.count,
    completed,
    rejected,
    failed,
    simulated_seconds: usToSeconds(run.endUs),
    steps: run.steps,
    ttft_ms: latencies.ttftUs.figures,
    tpot_ms: latencies.tpotUs.figures,
    itl_ms: distributionOf(run.itl),
    e2el_ms: latencies.e2elUs.figures,
    slo_attainment,
    ...goodput,
    prefix_hit_rate: prefixHitRate(log),
    kv_transfer_bytes: total(run.engines, 'kvTransferBytes'),
    preemptions: total(run.engines, 'preemptions'),
    engines: run.engines.map(engineSummary),
    refused,
    unfinished,
    ...served,
    phase_means_ms: phaseMeans(log),
    slo: options.slo === undefined ? null : formatSlo(options.slo),
    slo_attainment_by_objective: by_objective,
    gpus,
    events: run.events,
    seed: options.seed,
    ...(options.stepTimes === undefined ? {} : { step_times: options.stepTimes }),
    ...(options.frontEnd === undefined ? {} : { front_end: options.frontEnd }),
    ...(kvPool && { kv_pool: kvPool }),
    ...(autoscaling && { autoscaling }),
    ...(options.classes && { slo_classes: classSummaries(run, options.classes) }),
    ...(options.rates === undefined ? {} : { cost: costOf(run, options.rates, served) }),
    ...(options.config === undefined ? {} : { config: options.config }),
    wall_seconds: roundTo(options.wallSeconds, 3),
    requests_per_wall_second: roundTo(log.count / options.wallSeconds, 0),
  };
}

function gpusOf(
  { engines }: RunRecord,
  { gpus }: SummaryOptions,
  autoscaling: ScalingSummary | undefined,
): number {
  if (autoscaling !== undefined) return autoscaling.peak_gpus;
  return gpus ?? engines.reduce((sum, engine) => sum + engine.gpus, 0);
}

function countOutcomes(log: RequestLog): Record<Outcome, number> {
  const counts = new Float64Array(OUTCOMES.length);
  for (let row = 0; row < log.count; row++) counts[log.outcome[row]!]!++;
  return Object.fromEntries(OUTCOMES.map((outcome, code) => [outcome, counts[code]])) as Record<
    Outcome,
    number
  >;
}

function goodputOf(run: RunRecord, gpus: number, slo: Slo | undefined) {
  if (slo === undefined) {
    const none = { slo_attainment: null, goodput_rps: null, goodput_rps_per_gpu: null };
    return { ...none, by_objective: {} };
  }
  const { good, met } = attainmentOf(run.log, slo);
  const perSecond = good / usToSeconds(run.endUs);
  const shares = Object.entries(met).map(([name, count]) => [name, share(count, run.log.count)]);
  return {
    slo_attainment: share(good, run.log.count),
    goodput_rps: roundTo(perSecond, 6),
    goodput_rps_per_gpu: roundTo(perSecond / gpus, 6),
    by_objective: Object.fromEntries(shares) as Partial<Record<Objective, Rate>>,
  };
}

function throughput({ log, endUs }: RunRecord, completed: number) {
  const code = outcomeCode('completed');
  let promptTokens = 0;
  let outputTokens = 0;
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== code) continue;
    promptTokens += log.promptTokens[row]!;
    outputTokens += log.emittedTokens[row]!;
  }
  const seconds = usToSeconds(endUs);
  return {
    request_rps: roundTo(completed / seconds, 6),
    output_tokens_per_second: roundTo(outputTokens / seconds, 3),
    total_tokens_per_second: roundTo((promptTokens + outputTokens) / seconds, 3),
    prompt_tokens: promptTokens,
    output_tokens: outputTokens,
  };
}

function costOf(
  { engines, log, endUs }: RunRecord,
  rates: CostRates,
  { prompt_tokens: promptTokens, output_tokens: outputTokens }: ReturnType<typeof throughput>,
): CostSummary {
  const { completed } = countOutcomes(log);
  const served = { seconds: usToSeconds(endUs), completed, promptTokens, outputTokens };
  return costSummary(engines, rates, served);
}

/** The share of cached prompt tokens, among those that an engine was about to compute. */
function prefixHitRate(log: RequestLog): Rate {
  let requested = 0;
  let found = 0;
  for (let row = 0; row < log.count; row++) {
    if (log.prefillStartUs.at(row) === NEVER) continue;
    requested += log.promptTokens[row]!;
    found += log.cachedTokens[row]!;
  }
  return share(found, requested);
}

function phaseMeans(log: RequestLog): OfPhases<Rate> {
  const rounded = Object.entries(meanPhases(log)).map(([phase, us]) => [
    phase,
    roundTo(usToMs(us), 3),
  ]);
  return Object.fromEntries(rounded) as OfPhases<Rate>;
}

function total(engines: readonly EngineRecord[], key: 'kvTransferBytes' | 'preemptions'): number {
  return engines.reduce((sum, engine) => sum + engine[key], 0);
}
