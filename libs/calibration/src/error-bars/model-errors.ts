import {
  type ErrorFactors,
  type ModelErrors,
  NO_ERROR,
  type StepTimesSummary,
} from '@baton/analysis';
import { type ErrorFigure, type ErrorRow, errorRowFor, systemClassOf } from './error-table';

/** The origin of the step times of one role's engines. */
export interface TimedRole {
  readonly role: string;
  /** `composed`, `calibrated`, `estimated`, or `given` by the user. */
  readonly method: string;
  readonly gpu: string;
  /** The profile's own errors, on steps outside of its fit. */
  readonly heldOut?: StepTimesSummary['held_out_factors'];
}

/**
 * Errors of estimates from data sheets: ±60 %, as results state. In comparisons they were −94 to
 * +132 %.
 */
const ESTIMATED: ErrorFactors = { low: 1 / 1.6, high: 1.6 };
/**
 * Fitted to the deployment itself. The 18 points of docs/validation.md on one H100 outside of every
 * fit lay from 0.99 to 1.01 (ITL; ±5 % here, for other machines), 0.65 to 1.24 (TTFT) and, by
 * throughput, 0.94 to 1.07 (whole requests).
 */
const CALIBRATED: Readonly<Record<ErrorFigure, ErrorFactors>> = {
  ttft: { low: 0.65, high: 1.24 },
  tpot: { low: 0.95, high: 1.05 },
  e2el: { low: 0.94, high: 1.07 },
};
/** For an error that was not learned: the part that two splits of one deployment do not share. */
const APART_OF_TOTAL = 0.5;

/** Errors of a deployment's step times under a load (requests under way per engine). */
export function modelErrorsAt(
  roles: readonly TimedRole[],
  rows: readonly ErrorRow[],
): (load: number) => ModelErrors {
  const [first] = roles;
  const prefill = roles.find(({ role }) => role === 'prefill') ?? first;
  const decode = roles.find(({ role }) => role !== 'prefill') ?? first;
  return (load) => {
    const of = (role: TimedRole | undefined, figure: ErrorFigure): ErrorFactors => {
      return role === undefined ? NO_ERROR : factorsOf(role, { figure, load, rows });
    };
    return {
      ttft: of(prefill, 'ttft'),
      tpot: of(decode, 'tpot'),
      e2el: wider(of(prefill, 'e2el'), of(decode, 'e2el')),
      apart: apartFactor(roles, rows, load),
      source: sourceOf(roles),
    };
  };
}

interface FactorInputs {
  readonly figure: ErrorFigure;
  readonly load: number;
  readonly rows: readonly ErrorRow[];
}

function factorsOf(role: TimedRole, { figure, load, rows }: FactorInputs): ErrorFactors {
  const { method, gpu } = role;
  if (method === 'given') return NO_ERROR;
  if (method === 'calibrated') return ownErrors(role, figure) ?? CALIBRATED[figure];
  const row = errorRowFor(rows, { system: systemClassOf(gpu), figure, load });
  if (method !== 'composed' || row === undefined) return ESTIMATED;
  return { low: Math.min(1, row.low), high: Math.max(1, row.high) };
}

/**
 * A profile's own errors: prompts for the first token, decode steps for later tokens, both for
 * whole requests. Undefined: it has none for the figure.
 */
function ownErrors({ heldOut }: TimedRole, figure: ErrorFigure): ErrorFactors | undefined {
  const of = (phase: 'prefill' | 'decode'): ErrorFactors | undefined => {
    const ends = heldOut?.[phase];
    return ends && { low: Math.min(1, ends.low), high: Math.max(1, ends.high) };
  };
  const [prefill, decode] = [of('prefill'), of('decode')];
  if (figure === 'ttft') return prefill;
  if (figure === 'tpot') return decode;
  return prefill && decode && wider(prefill, decode);
}

function wider(one: ErrorFactors, other: ErrorFactors): ErrorFactors {
  return { low: Math.min(one.low, other.low), high: Math.max(one.high, other.high) };
}

const SOURCES: Readonly<Record<string, string>> = {
  composed: 'composed, errors of published serving points',
  calibrated: 'calibrated, errors of held-out points on one H100',
  given: 'taken as given',
};

const OWN = 'calibrated, errors of steps that its profile was not fitted to';
const PARTLY_OWN = `${OWN}, where its profile has them, else of held-out points on one H100`;

function sourceOf(roles: readonly TimedRole[]): string {
  const methods = roles.map((role) => {
    if (role.method === 'calibrated' && role.heldOut !== undefined) {
      return ownErrors(role, 'e2el') === undefined ? PARTLY_OWN : OWN;
    }
    return SOURCES[role.method] ?? 'estimated, ±60 %';
  });
  return `step times ${[...new Set(methods)].join('; ')}`;
}

/**
 * The smallest factor between two goodputs of one deployment at which 80 % of such differences are
 * real. Both share the error of model, GPU and framework, which cancels; the rest was measured
 * between points of one group. Other methods have half of their error, on a logarithmic scale.
 */
function apartFactor(roles: readonly TimedRole[], rows: readonly ErrorRow[], load: number): number {
  const factors = roles.map((role) => {
    const { method, gpu } = role;
    const row = errorRowFor(rows, { system: systemClassOf(gpu), figure: 'e2el', load });
    if (method === 'composed' && row !== undefined) return row.apart;
    const { low, high } = factorsOf(role, { figure: 'e2el', load, rows });
    return Math.max(high, 1 / low) ** APART_OF_TOTAL;
  });
  return Math.max(1, ...factors);
}
