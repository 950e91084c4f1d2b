import { type Objective, type RequestPhase, roundTo } from '@baton/analysis';
import {
  type ConsoleColumn,
  consoleTable,
  formatMs,
  formatNumber,
  formatShare,
  type ReportSection,
  wrapWords,
} from '@baton/report';
import { isAggregated } from '../candidates/candidates';
import { type Cause, CAUSES, type PhaseProfile, type RoleProfile } from '../candidates/run-profile';
import type { Explained, Explanation } from '../candidates/explanation';
import { goodputOf, type PlanResult } from '../candidates/split-result';
import { whyLost } from './why-lost';

type Share = number | null;

interface PhaseDocument {
  readonly phase: RequestPhase;
  readonly mean_ms: number | null;
  readonly p90_ms: number | null;
}

/** How busy and how full the engines of a role are; docs/planning.md defines each name. */
interface RoleDocument {
  readonly role: string;
  readonly engines: number;
  readonly in_steps: Share;
  readonly in_prompt_steps: Share;
  readonly running_mean: number | null;
  readonly max_num_seqs: number;
  readonly batch_full: Share;
  readonly waiting_mean: number | null;
  readonly kv_usage_mean: Share;
  readonly kv_usage_max: Share;
  readonly kv_full: Share;
  readonly tokens_per_step: number | null;
  readonly max_num_batched_tokens: number;
  readonly preemptions: number;
}

export interface ExplainedRun {
  readonly split: string;
  readonly slo_attainment: Share;
  readonly missed: number;
  readonly missed_by: Readonly<Partial<Record<Objective, number>>>;
  readonly phases: readonly PhaseDocument[];
  /** The same requests on the almost idle cluster. */
  readonly idle_phases: readonly PhaseDocument[];
  readonly engines: readonly RoleDocument[];
  /** Shares of what the missing requests lose. */
  readonly causes: Readonly<Record<Cause, Share>>;
}

/** Why a split lost against the winner. */
export interface ExplanationDocument {
  readonly split: string;
  readonly goodput_rps: number | null;
  readonly winner: string;
  /** The winner's highest rate, at which both are simulated. */
  readonly request_rate: number | null;
  /** The cause and what would mend it. */
  readonly sentences: readonly string[];
  /** Both empty: the split is the winner. */
  readonly own_run: ExplainedRun | null;
  readonly winner_run: ExplainedRun | null;
}

/** Undefined: no explanation was asked for. */
export function explanationDocument({
  explanation,
  winner,
}: PlanResult): ExplanationDocument | undefined {
  if (explanation === undefined) return undefined;
  const { split, runs } = explanation;
  return {
    split: split.name,
    goodput_rps: split.measured === undefined ? null : roundTo(goodputOf(split), 6),
    winner: winner.name,
    request_rate: roundTo(winner.measured!.rate, 6),
    sentences: sentencesOf(explanation, winner.name),
    own_run: runs === undefined ? null : runDocument(split.name, runs.split),
    winner_run: runs === undefined ? null : runDocument(winner.name, runs.winner),
  };
}

function sentencesOf({ split, runs }: Explanation, winner: string): string[] {
  if (runs === undefined) return [`${split.name} is the winner.`];
  const { result, profile } = runs.split;
  return whyLost({
    name: split.name,
    isAggregated: isAggregated(split.split),
    winner,
    rate: result.rate,
    own: profile,
    best: runs.winner.profile,
  });
}

function runDocument(split: string, { result, profile }: Explained): ExplainedRun {
  const shares = CAUSES.map((cause) => [cause, roundTo(profile.causes[cause], 6)]);
  return {
    split,
    slo_attainment: result.figures?.slo_attainment ?? null,
    missed: profile.missed,
    missed_by: profile.missedBy,
    phases: profile.phases.map(phaseDocument),
    idle_phases: profile.idlePhases.map(phaseDocument),
    engines: profile.roles.map(roleDocument),
    causes: Object.fromEntries(shares) as ExplainedRun['causes'],
  };
}

function phaseDocument({ phase, meanMs, p90Ms }: PhaseProfile): PhaseDocument {
  return { phase, mean_ms: roundTo(meanMs, 3), p90_ms: roundTo(p90Ms, 3) };
}

function roleDocument(role: RoleProfile): RoleDocument {
  return {
    role: role.role,
    engines: role.engines,
    in_steps: roundTo(role.inSteps, 6),
    in_prompt_steps: roundTo(role.inPromptSteps, 6),
    running_mean: roundTo(role.running, 3),
    max_num_seqs: role.maxNumSeqs,
    batch_full: roundTo(role.batchFull, 6),
    waiting_mean: roundTo(role.waiting, 3),
    kv_usage_mean: roundTo(role.kvMean, 6),
    kv_usage_max: roundTo(role.kvMost, 6),
    kv_full: roundTo(role.kvFull, 6),
    tokens_per_step: roundTo(role.tokensPerStep, 3),
    max_num_batched_tokens: role.maxNumBatchedTokens,
    preemptions: role.preemptions,
  };
}

interface ExplanationTable {
  readonly title: string;
  readonly columns: readonly ConsoleColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** The phases, the engines, and the causes of both runs. */
function tables({ own_run: own, winner_run: best }: ExplanationDocument): ExplanationTable[] {
  if (own === null || best === null) return [];
  const right = (name: string): ConsoleColumn => ({ name, align: 'right' });
  const cells = (all: readonly PhaseDocument[], phase: string): string[] => {
    const found = all.find((one) => one.phase === phase);
    return [formatMs(found?.mean_ms ?? null), formatMs(found?.p90_ms ?? null)];
  };
  const phases = own.phases.length >= best.phases.length ? own.phases : best.phases;
  return [
    {
      title: 'Phases of the requests',
      columns: [
        { name: 'phase' },
        ...['mean', 'p90', 'mean idle', 'p90 idle', 'winner mean', 'winner p90'].map(right),
      ],
      rows: phases.map(({ phase }) => [
        phase.replace('_', ' '),
        ...cells(own.phases, phase),
        ...cells(own.idle_phases, phase),
        ...cells(best.phases, phase),
      ]),
    },
    {
      title: 'What is busy and what is full',
      columns: [
        { name: 'engines' },
        ...['in steps', 'of prompts', 'batch', 'full', 'KV', 'KV full', 'tokens/step'].map(right),
        right('preempted'),
      ],
      rows: [own, best].flatMap((run) => run.engines.map((role) => engineRow(run.split, role))),
    },
    {
      title: 'What the missing requests lose their time to',
      columns: [{ name: 'cause' }, right(own.split), right(best.split)],
      rows: CAUSES.filter((cause) => (own.causes[cause] ?? 0) + (best.causes[cause] ?? 0) > 0).map(
        (cause) => [
          CAUSE_NAMES[cause],
          ...[own, best].map((run) => formatShare(run.causes[cause])),
        ],
      ),
    },
  ];
}

const CAUSE_NAMES: Readonly<Record<Cause, string>> = {
  front_end: 'front end',
  queue: 'queue: waiting for the first step',
  prefill: 'prompt: slow even alone',
  budget: 'budget: steps full of prompt tokens, or full batches',
  kv: 'KV: no blocks, or preempted',
  transfer: 'transfer: KV on the link',
  decode: 'decode: slow steps',
};

function engineRow(split: string, role: RoleDocument): string[] {
  return [
    `${split.split(' ')[0]}: ${role.engines} ${role.role}`,
    formatShare(role.in_steps),
    formatShare(role.in_prompt_steps),
    `${formatNumber(role.running_mean)} / ${formatNumber(role.max_num_seqs)}`,
    formatShare(role.batch_full),
    formatShare(role.kv_usage_mean),
    formatShare(role.kv_full),
    `${formatNumber(role.tokens_per_step)} / ${formatNumber(role.max_num_batched_tokens)}`,
    formatNumber(role.preemptions),
  ];
}

/** The explanation as text. Empty without a question. */
export function explanationText(
  explanation: ExplanationDocument | undefined,
  width: number,
): string[] {
  if (explanation === undefined) return [];
  const [first = '', ...others] = explanation.sentences;
  const answer = [`Why not ${explanation.split}: ${first}`, ...others].join(' ');
  return [
    wrapWords(answer),
    ...tables(explanation).map(({ title, columns, rows }) => {
      return `${title}\n${consoleTable(columns, rows, width)}`;
    }),
  ];
}

export function explanationSections(explanation: ExplanationDocument | undefined): ReportSection[] {
  if (explanation === undefined) return [];
  const title = `Why not: ${explanation.split}`;
  return [
    { kind: 'note', title, text: explanation.sentences.join(' ') },
    ...tables(explanation).map(({ title: name, columns, rows }): ReportSection => {
      return { kind: 'table', title: `${title}, ${name.toLowerCase()}`, columns, rows };
    }),
  ];
}
