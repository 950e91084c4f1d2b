import { roundTo } from '@baton/analysis';
import { formatNumber, formatShare, type ReportSection, usd } from '@baton/report';
import { candidateName } from '../candidates/candidates';
import type { LoadAnswer, SmallestCluster } from '../candidates/smallest-clusters';
import { goodputOf, type Kind, type PlanResult } from '../candidates/split-result';
import type { PlanDocument } from './plan-document';

export interface SmallestClusterDocument {
  readonly kind: Kind;
  /** Null: more than `most_gpus`. */
  readonly gpus: number | null;
  readonly split: string | null;
  readonly slo_attainment: number | null;
  /** Only with costs. */
  readonly usd_per_hour?: number | null;
}

export interface LoadAnswerDocument {
  /** The load in times of the workload's own rate. */
  readonly times: number;
  readonly request_rate: number | null;
  /** The largest number of GPUs that was tried. */
  readonly most_gpus: number;
  /** The smallest cluster of each kind, the smallest of all first. */
  readonly smallest: readonly SmallestClusterDocument[];
}

/** What a planner asks first. */
export interface AnswersDocument {
  /** The highest load for the GPUs of the plan: the goodput of the winner. */
  readonly highest_load_rps: number | null;
  /** Empty when the workload names no rate, or the time budget was too short. */
  readonly smallest: readonly LoadAnswerDocument[];
}

export function answersDocument({ winner, answers }: PlanResult): AnswersDocument {
  return {
    highest_load_rps: roundTo(goodputOf(winner), 6),
    smallest: answers.map(loadDocument),
  };
}

function loadDocument({ times, rate, mostGpus, smallest }: LoadAnswer): LoadAnswerDocument {
  return {
    times,
    request_rate: roundTo(rate, 6),
    most_gpus: mostGpus,
    smallest: smallest.map(clusterDocument),
  };
}

function clusterDocument({ kind, split, result }: SmallestCluster): SmallestClusterDocument {
  const cost = result?.figures?.cost;
  return {
    kind,
    gpus: split?.gpus ?? null,
    split: split === undefined ? null : candidateName(split),
    slo_attainment: result?.figures?.slo_attainment ?? null,
    ...(cost === undefined ? {} : { usd_per_hour: cost.usd_per_hour }),
  };
}

type Entry = readonly [question: string, answer: string, detail: string];

/** Each question of a planner with its answer and what leads to it. */
function entries({ answers, gpus, winner }: PlanDocument): Entry[] {
  const highest = `${formatNumber(answers.highest_load_rps)} requests/s`;
  return [
    ...answers.smallest.map((load): Entry => {
      const rate = `${formatNumber(load.request_rate)} requests/s`;
      const of = load.times === 1 ? "the workload's own" : `${load.times} times the workload's own`;
      const [best, ...others] = load.smallest;
      const details = [
        ...(best?.split ? [clusterText(best)] : []),
        ...others.map((one) => {
          const own = one.split ? `, ${clusterText(one)}` : '';
          return `${one.kind} ${sizeText(one, load)}${own}`;
        }),
      ];
      return [`Smallest for ${rate}, ${of}`, sizeText(best, load), details.join('; ')];
    }),
    [`Highest load for ${gpusText(gpus)}`, highest, winner.name],
  ];
}

function sizeText(one: SmallestClusterDocument | undefined, { most_gpus }: LoadAnswerDocument) {
  return one?.gpus ? gpusText(one.gpus) : `more than ${gpusText(most_gpus)}`;
}

function clusterText({ split, slo_attainment, usd_per_hour: dollars }: SmallestClusterDocument) {
  const price = dollars === undefined ? '' : `, ${usd(dollars)} per hour`;
  return `${split} (${formatShare(slo_attainment)} within the SLO${price})`;
}

function gpusText(gpus: number): string {
  return gpus === 1 ? '1 GPU' : `${gpus} GPUs`;
}

/** One line for each answer. */
export function answersLines(document: PlanDocument): string[] {
  return entries(document).map(
    ([question, answer, detail]) => `${question}: ${answer}, ${detail}.`,
  );
}

export function answersSection(document: PlanDocument): ReportSection {
  return { kind: 'keyValues', title: 'Answers', look: 'tiles', entries: entries(document) };
}
