import { formatNumber, type ReportSection } from '@baton/report';
import { candidateName } from '../candidates/candidates';
import { KINDS, type PlanResult } from '../candidates/split-result';
import type { StepsOutside } from '../candidates/steps-outside';

/** A case of a search whose run had steps outside of the measured range of its step times. */
export interface Extrapolation {
  /** The split or fleet. */
  readonly name: string;
  /** Null: as configured. */
  readonly assumption: string | null;
  readonly role: string;
  /** Steps of these engines outside of the range. */
  readonly steps: number;
  /** The quantity that lay farthest outside, in words. */
  readonly what: string;
  readonly value: number;
  /** Its smallest and largest measured value; 0 as the largest: none was measured. */
  readonly measured_from: number;
  readonly measured_to: number;
}

/** @param assumption  null: as configured */
export function extrapolationsOf(
  name: string,
  assumption: string | null,
  outside: readonly StepsOutside[] = [],
): Extrapolation[] {
  return outside.map(({ role, steps, farthest: { what, value, measured } }) => {
    const [measured_from, measured_to] = measured;
    return { name, assumption, role, steps, what, value, measured_from, measured_to };
  });
}

/** Those of a plan: of its splits, of the clusters of its answers, and of its assumptions. */
export function planExtrapolations({
  splits,
  answers,
  sensitivity,
  contenders,
}: Pick<PlanResult, 'splits' | 'answers' | 'sensitivity' | 'contenders'>): Extrapolation[] {
  const [, ...assumed] = sensitivity;
  return [
    ...splits.flatMap(({ name, measured }) => extrapolationsOf(name, null, measured?.outside)),
    ...answers.flatMap(({ rate, smallest }) => {
      return smallest.flatMap(({ split, result }) => {
        if (split === undefined) return [];
        const name = `${candidateName(split)} at ${formatNumber(rate)} requests/s`;
        return extrapolationsOf(name, null, result?.outside);
      });
    }),
    ...assumed.flatMap(({ assumption, outside }) => {
      return KINDS.flatMap((kind) => {
        return extrapolationsOf(contenders[kind]?.name ?? '', assumption.name, outside?.[kind]);
      });
    }),
  ];
}

/**
 * One sentence for each limit that was left. It names the case farthest outside, one as configured
 * before any under an assumption.
 */
export function extrapolationLines(cases: readonly Extrapolation[]): string[] {
  const limits = new Map<string, Extrapolation[]>();
  for (const one of cases) {
    const limit = `${one.what} ${one.measured_to}`;
    limits.set(limit, [...(limits.get(limit) ?? []), one]);
  }
  return [...limits.values()].map((alike) => {
    const configured = alike.filter(({ assumption }) => assumption === null);
    const named = farthestOf(configured.length > 0 ? configured : alike);
    return `Extrapolated: ${caseText(named)}${othersText(alike.length - 1)}.`;
  });
}

const COLUMNS = [
  ...['case', 'if', 'engines', 'steps outside', 'what lay farthest outside', 'value'],
  'measured',
].map((name) => ({ name }));

export function extrapolationSections(cases: readonly Extrapolation[]): ReportSection[] {
  if (cases.length === 0) return [];
  return [
    {
      kind: 'table',
      title: 'Outside of the measured range',
      note: 'The times of these steps are extrapolations.',
      columns: COLUMNS,
      rows: cases.map((one) => [
        ...[one.name, one.assumption ?? 'as configured', one.role, formatNumber(one.steps)],
        ...[one.what, formatNumber(one.value), measuredText(one)],
      ]),
    },
  ];
}

function farthestOf(cases: readonly Extrapolation[]): Extrapolation {
  return cases.reduce((most, one) => (one.value > most.value ? one : most));
}

function caseText(one: Extrapolation): string {
  const { name, assumption, role, steps, what, value } = one;
  const where = `${role} engines of ${name}${assumption === null ? '' : ` if ${assumption}`}`;
  const far = `${what} up to ${formatNumber(value)} (measured: ${measuredText(one)})`;
  return `${far} in ${formatNumber(steps)} ${steps === 1 ? 'step' : 'steps'} of the ${where}`;
}

function measuredText({ measured_from: low, measured_to: high }: Extrapolation): string {
  return high === 0 ? 'none' : `${formatNumber(low)} to ${formatNumber(high)}`;
}

function othersText(others: number): string {
  if (others === 0) return '';
  return `, and in ${formatNumber(others)} other ${others === 1 ? 'case' : 'cases'}`;
}
