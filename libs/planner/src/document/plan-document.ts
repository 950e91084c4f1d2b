import { mean } from '@baton/kernel';
import {
  type ClassSummary,
  type CostSummary,
  type Distribution,
  type FigureIntervals,
  type FrontEndSummary,
  formatSlo,
  INTERVAL_LEVEL,
  roundTo,
} from '@baton/analysis';
import { frontEndSummary } from '@baton/simulation';
import { fileName, frontEndOf, shownConfig } from '@baton/config';
import { type EngineRole, formatTopology } from '@baton/policies';
import { apartFactor, goodputInterval } from '../candidates/told-apart';
import { type Candidate, candidateName, isAggregated } from '../candidates/candidates';
import {
  type CutStage,
  type FrontierPoint,
  goodputOf,
  type Kind,
  type PlanResult,
  type Preferred,
  preferred,
  type SensitivityRow,
  type SettingRow,
  type SplitResult,
} from '../candidates/split-result';
import { type PlanFigures, TOLERANCE } from '../candidates/plan-task';
import type { WorkloadDescription } from '@baton/workload';
import { shownWorkload } from '@baton/replay';
import type { PreparedPlan } from '../prepare-plan';
import { type AnswersDocument, answersDocument } from './answers';
import { type Ends, roundedEnds } from './cell-ends';
import { caveats } from './caveats';
import { type Extrapolation, planExtrapolations } from './extrapolations';
import { type ExplanationDocument, explanationDocument } from './explanation';
import { type WhatIfDocument, whatIfDocuments } from './tornado';
import { type Confidence, likeWinner, pairedWith, verdict } from './verdict';

type Rate = number | null;

const MS_PER_SECOND = 1_000;

/**
 * A split and, if simulated, its figures at its highest rate. docs/planning.md defines each name.
 */
export interface SplitDocument {
  readonly name: string;
  readonly topology: string;
  readonly kind: 'disaggregated' | 'aggregated';
  readonly tensor_parallel_size: Readonly<Partial<Record<EngineRole, number>>>;
  /** Options that suit the split and differ from the configuration, by their names. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly estimated_rps: Rate;
  readonly simulated: boolean;
  /** Why it was not simulated. Null: it was. */
  readonly why_not: string | null;
  /** Requests of the workload that it was last tried with; fewer than all: a sample. */
  readonly requests: number | null;
  readonly request_rate: Rate;
  readonly goodput_rps: Rate;
  readonly goodput_rps_per_gpu: Rate;
  readonly slo_attainment: Rate;
  /** Figures of each SLO class at that rate. Unset: the configuration has no classes. */
  readonly slo_classes?: readonly ClassSummary[];
  /** Requests that can never fit an engine of the split. */
  readonly refused: Rate;
  /** False: it refuses requests that other splits serve, or was tried only on a sample. */
  readonly comparable: boolean;
  readonly ttft_ms: Distribution | null;
  readonly tpot_ms: Distribution | null;
  readonly itl_ms: Distribution | null;
  readonly e2el_ms: Distribution | null;
  /** Mean share of its time in which an engine of the role steps. */
  readonly utilisation: Readonly<Partial<Record<EngineRole, Rate>>>;
  /** Goodput in each window of the workload. Null: it was not tried in windows. */
  readonly windows_goodput_rps: readonly Rate[] | null;
  readonly on_pareto_front: boolean;
  readonly simulations: number;
  /** Cost of the run at its highest rate. Unset without --cost or --gpu-price. */
  readonly cost?: CostSummary;
  /** 80 % intervals of the figures above, by their names. Null where no rate was found. */
  readonly intervals: SplitIntervals | null;
}

export interface SplitIntervals extends Pick<
  FigureIntervals,
  'slo_attainment' | 'ttft_ms' | 'tpot_ms' | 'itl_ms' | 'e2el_ms'
> {
  readonly goodput_rps: Ends;
  readonly goodput_rps_per_gpu: Ends;
}

export interface FrontierDocument {
  readonly name: string;
  readonly request_rate: Rate;
  readonly request_rps: Rate;
  readonly request_rps_per_gpu: Rate;
  readonly output_tokens_per_second_per_gpu: Rate;
  /** Tokens per second of one stream: 1 over the median TPOT. Null: no gaps between tokens. */
  readonly output_tokens_per_second_per_user: Rate;
  /** Only with costs. */
  readonly usd_per_million_output_tokens?: Rate;
  readonly slo_attainment: Rate;
  readonly ttft_ms: Distribution;
  readonly tpot_ms: Distribution;
  readonly on_pareto_front: boolean;
  readonly intervals: Pick<
    FigureIntervals,
    'request_rps' | 'slo_attainment' | 'ttft_ms' | 'tpot_ms'
  >;
}

export interface SensitivityDocument {
  readonly assumption: string;
  readonly disaggregated_goodput_rps_per_gpu: Rate;
  readonly aggregated_goodput_rps_per_gpu: Rate;
  readonly better: Preferred | null;
  /** True when the same kind of split wins as without the assumption. */
  readonly same_winner: boolean | null;
}

/**
 * The result of a plan: a function of workload, configuration and flags, independent of threads and
 * clocks.
 */
export interface PlanDocument {
  readonly gpus: number;
  readonly slo: string;
  readonly slo_attainment_target: number;
  /** The conclusion in a few words, and how firm it is. */
  readonly headline: string;
  readonly confidence: Confidence;
  /** The numbers behind it, as sentences. */
  readonly verdict: string;
  /** The smallest number of GPUs for the load, and the highest load for the GPUs. */
  readonly answers: AnswersDocument;
  /** Why a split lost. Unset without --explain. */
  readonly explanation?: ExplanationDocument;
  readonly winner: SplitDocument;
  readonly best_disaggregated: string | null;
  readonly best_aggregated: string | null;
  readonly margin_over_aggregated: Rate;
  /** The winner and the best split of the other kind, window by window. Null: not compared. */
  readonly windows: WindowsDocument | null;
  /** The best split of each kind with the settings of the configuration. */
  readonly at_defaults: Readonly<
    Record<Kind, { readonly name: string; readonly goodput_rps: Rate } | null>
  >;
  /** The best split of each kind with other settings. */
  readonly settings: readonly SettingDocument[];
  /** Stages that the time budget cut short. */
  readonly cut_short: readonly CutStage[];
  /** Splits whose goodput cannot be distinguished from the winner's, best first. */
  readonly not_told_apart: readonly string[];
  /** The interval of the margin. */
  readonly intervals: { readonly level: number; readonly margin_over_aggregated: Ends };
  readonly command: string;
  readonly replay_command: string | null;
  readonly splits: readonly SplitDocument[];
  readonly frontier: readonly FrontierDocument[];
  readonly sensitivity: readonly SensitivityDocument[];
  /** What else would change the goodput of the winner, and of the best split of the other kind. */
  readonly what_if: readonly WhatIfDocument[];
  /** All figures of the winner at its highest rate. */
  readonly winner_summary: PlanFigures | null;
  readonly tolerance: number;
  readonly simulations: number;
  /** Reasons why the answer is less certain than it looks, as sentences. */
  readonly doubts: readonly string[];
  readonly notes: readonly string[];
  readonly step_times: Readonly<Record<string, string>>;
  /**
   * The splits at their highest rates, the clusters of the answers, and the best of each kind under
   * the assumptions, whose steps left the measured range.
   */
  readonly extrapolations: readonly Extrapolation[];
  /** The servers in front of every engine. Unset when engines run without servers. */
  readonly front_end?: FrontEndSummary;
  readonly workload: WorkloadDescription;
  readonly seed: number;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface WindowsDocument {
  readonly windows: number;
  readonly wins: number;
  readonly losses: number;
}

export interface SettingDocument {
  readonly kind: Kind;
  /** The option that is as configured. Null: all settings are those of the other kind's best. */
  readonly option: string | null;
  readonly split: string;
  readonly goodput_rps: Rate;
  /** Share of its goodput that the best split of this kind loses. */
  readonly loss: Rate;
}

/** @param commands  that start the winner, and replay the workload on it */
export function planDocument(
  prepared: PreparedPlan,
  result: PlanResult,
  commands: Pick<PlanDocument, 'command' | 'replay_command'>,
): PlanDocument {
  const { context, loaded, workloadFlags, description, stepTimes } = prepared;
  const { config, target } = context;
  const frontEnd = frontEndOf(config);
  const explanation = explanationDocument(result);
  const { winner, contenders, splits, frontier, sensitivity, atDefaults } = result;
  const { headline, reasons, confidence } = verdict(result);
  const front = new Set(frontier.map(({ name }) => name));
  const documentOf = (split: SplitResult): SplitDocument => {
    const comparable = result.rivals.some(({ name }) => name === split.name);
    const marks = { front: front.has(split.name), comparable };
    return splitDocument(split, marks);
  };
  return {
    gpus: winner.split.gpus,
    slo: formatSlo(target.slo),
    slo_attainment_target: target.attainment,
    headline,
    confidence,
    verdict: reasons,
    answers: answersDocument(result),
    ...(explanation && { explanation }),
    winner: documentOf(winner),
    best_disaggregated: contenders.disaggregated?.name ?? null,
    best_aggregated: contenders.aggregated?.name ?? null,
    margin_over_aggregated: roundTo(goodputOf(winner) / goodputOf(contenders.aggregated) - 1, 6),
    windows: windowsDocument(result),
    at_defaults: {
      disaggregated: defaultDocument(atDefaults.disaggregated),
      aggregated: defaultDocument(atDefaults.aggregated),
    },
    settings: result.settings.map((row) => settingDocument(row, result)),
    cut_short: result.cut,
    not_told_apart: likeWinner(result).map(({ name }) => name),
    intervals: { level: INTERVAL_LEVEL, margin_over_aggregated: marginInterval(result) },
    ...commands,
    splits: splits.map(documentOf),
    frontier: frontier.map(frontierDocument),
    sensitivity: sensitivity.map((row) => sensitivityDocument(row, result)),
    what_if: whatIfDocuments(result),
    winner_summary: winner.measured?.figures ?? null,
    tolerance: TOLERANCE,
    simulations: result.simulations,
    doubts: caveats(prepared, result),
    notes: prepared.notes,
    step_times: stepTimes,
    extrapolations: planExtrapolations(result),
    ...(frontEnd === undefined ? {} : { front_end: frontEndSummary(frontEnd) }),
    workload: description,
    seed: config.seed,
    config: {
      ...withoutSplit(shownConfig(config)),
      workload: shownWorkload(loaded, workloadFlags),
    },
  };
}

function splitDocument(
  result: SplitResult,
  marks: { readonly front: boolean; readonly comparable: boolean },
): SplitDocument {
  const { name, split, estimatedRate, measured } = result;
  const { figures } = measured ?? {};
  const goodput = measured === undefined ? NaN : goodputOf(result);
  return {
    name,
    topology: formatTopology(split.topology),
    kind: isAggregated(split) ? 'aggregated' : 'disaggregated',
    tensor_parallel_size: sizesOf(split),
    settings: settingsOf(split),
    estimated_rps: roundTo(estimatedRate, 6),
    simulated: measured !== undefined,
    why_not: measured === undefined ? (result.whyNot ?? null) : null,
    requests: measured?.requests ?? null,
    request_rate: roundTo(measured?.rate ?? NaN, 6),
    goodput_rps: roundTo(goodput, 6),
    goodput_rps_per_gpu: roundTo(goodput / split.gpus, 6),
    slo_attainment: figures?.slo_attainment ?? null,
    ...(figures?.slo_classes && { slo_classes: figures.slo_classes }),
    refused: figures?.refused ?? null,
    comparable: marks.comparable,
    ttft_ms: figures?.ttft_ms ?? null,
    tpot_ms: figures?.tpot_ms ?? null,
    itl_ms: figures?.itl_ms ?? null,
    e2el_ms: figures?.e2el_ms ?? null,
    utilisation: figures === undefined ? {} : utilisationOf(figures),
    windows_goodput_rps: result.windows?.map((rps) => roundTo(rps, 6)) ?? null,
    on_pareto_front: marks.front,
    simulations: measured?.simulations ?? 0,
    ...(figures?.cost === undefined ? {} : { cost: figures.cost }),
    intervals: splitIntervals(result),
  };
}

function splitIntervals({ split, measured, windows }: SplitResult): SplitIntervals | null {
  const goodput = measured === undefined ? undefined : goodputInterval(measured, windows);
  if (goodput === undefined || measured?.figures === undefined) return null;
  const { slo_attainment, ttft_ms, tpot_ms, itl_ms, e2el_ms } = measured.figures.intervals;
  return {
    goodput_rps: roundedEnds(goodput),
    goodput_rps_per_gpu: roundedEnds(goodput, 1 / split.gpus),
    slo_attainment,
    ttft_ms,
    tpot_ms,
    itl_ms,
    e2el_ms,
  };
}

/** The interval of the margin, without the error that both splits share. */
function marginInterval({ winner, contenders: { aggregated } }: PlanResult): Ends {
  if (aggregated === undefined || goodputOf(aggregated) === 0) return null;
  const [ratio, apart] = [
    goodputOf(winner) / goodputOf(aggregated),
    apartFactor(winner, aggregated),
  ];
  return winner === aggregated ? [0, 0] : roundedEnds([ratio / apart - 1, ratio * apart - 1]);
}

function windowsDocument({ winner, contenders }: PlanResult): WindowsDocument | null {
  const rival = contenders[isAggregated(winner.split) ? 'disaggregated' : 'aggregated'];
  const paired = rival && pairedWith(winner, rival);
  if (paired === undefined) return null;
  const { windows, wins, losses } = paired;
  return { windows, wins, losses };
}

function defaultDocument(result: SplitResult | undefined) {
  return result ? { name: result.name, goodput_rps: roundTo(goodputOf(result), 6) } : null;
}

function settingDocument(row: SettingRow, { contenders }: PlanResult): SettingDocument {
  const own = goodputOf(contenders[row.kind]);
  return {
    kind: row.kind,
    option: row.key === undefined ? null : fileName(row.key),
    split: candidateName(row.split),
    goodput_rps: roundTo(row.goodput, 6),
    loss: roundTo(1 - row.goodput / own, 6),
  };
}

function settingsOf({ settings }: Candidate): SplitDocument['settings'] {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [fileName(key), value]));
}

function sizesOf(split: Candidate): SplitDocument['tensor_parallel_size'] {
  const { prefillTp: prefill, decodeTp: decode } = split;
  return isAggregated(split) ? { aggregated: decode } : { prefill, decode };
}

function utilisationOf({ engines }: PlanFigures): SplitDocument['utilisation'] {
  const roles = [...new Set(engines.map(({ role }) => role))];
  const means = roles.map((role) => {
    const shares = engines.filter((one) => one.role === role).map((one) => one.utilisation ?? 0);
    return [role, roundTo(mean(shares), 6)] as const;
  });
  return Object.fromEntries(means);
}

function frontierDocument(point: FrontierPoint): FrontierDocument {
  const { name, split, rate, completedRate, figures, isOnFront } = point;
  const tokensPerSecond = (completedRate * figures.output_tokens) / figures.completed;
  return {
    name,
    request_rate: roundTo(rate, 6),
    request_rps: roundTo(completedRate, 6),
    request_rps_per_gpu: roundTo(completedRate / split.gpus, 6),
    output_tokens_per_second_per_gpu: roundTo(tokensPerSecond / split.gpus, 6),
    output_tokens_per_second_per_user: roundTo(MS_PER_SECOND / (figures.tpot_ms.p50 ?? NaN), 6),
    ...(figures.cost && {
      usd_per_million_output_tokens: figures.cost.usd_per_million_output_tokens,
    }),
    slo_attainment: figures.slo_attainment,
    ttft_ms: figures.ttft_ms,
    tpot_ms: figures.tpot_ms,
    on_pareto_front: isOnFront,
    intervals: {
      request_rps: figures.intervals.request_rps,
      slo_attainment: figures.intervals.slo_attainment,
      ttft_ms: figures.intervals.ttft_ms,
      tpot_ms: figures.intervals.tpot_ms,
    },
  };
}

function sensitivityDocument(
  { assumption, goodput }: SensitivityRow,
  { contenders, winner }: PlanResult,
): SensitivityDocument {
  const { disaggregated, aggregated } = goodput;
  const perGpu = (rps = NaN): Rate => roundTo(rps / winner.split.gpus, 6);
  const isCompared = disaggregated !== undefined && aggregated !== undefined;
  const better = isCompared ? preferred({ disaggregated, aggregated }) : null;
  const asConfigured = preferred({
    disaggregated: goodputOf(contenders.disaggregated),
    aggregated: goodputOf(contenders.aggregated),
  });
  return {
    assumption: assumption.name,
    disaggregated_goodput_rps_per_gpu: perGpu(disaggregated),
    aggregated_goodput_rps_per_gpu: perGpu(aggregated),
    better,
    same_winner: better === null ? null : better === asConfigured,
  };
}

/** The configuration without the options that a plan searches. */
function withoutSplit(config: Record<string, unknown>): Record<string, unknown> {
  const looked = /^topology$|^(prefill_|decode_)?tensor_parallel_size$/;
  return Object.fromEntries(Object.entries(config).filter(([name]) => !looked.test(name)));
}
