import { roundTo } from '@baton/analysis';
import type { PlanFigures } from '../candidates/plan-task';
import type { FleetsFound, OverloadPoint } from './search-fleets';

/** The figures of a fleet at a load above the one that it is chosen for. */
export interface BreakagePoint {
  /** Load as a multiple of that one. */
  readonly load: number;
  readonly request_rate: number | null;
  readonly slo_attainment: number | null;
  readonly by_objective: PlanFigures['slo_attainment_by_objective'];
  /** By role, mean share of the time in which its engines step. */
  readonly utilisation: Readonly<Record<string, number | null>>;
  readonly preemptions: number;
  readonly rejected: number;
}

/** The part of a fleet that fails first as the load grows. */
export interface Breakage {
  readonly fleet: string;
  /** The objective that the fewest requests meet at the first load below the target. */
  readonly objective: string | null;
  /** The role whose engines are busiest at that load. */
  readonly busiest_role: string | null;
  readonly points: readonly BreakagePoint[];
}

export function breakage({ chosen, overload }: FleetsFound, attainment: number): Breakage | null {
  if (chosen === undefined) return null;
  const points = overload.map(pointOf);
  const broken = points.find(({ slo_attainment: share }) => (share ?? 0) < attainment);
  return {
    fleet: chosen.result.fleet.name,
    objective: lowest(broken?.by_objective ?? {}),
    busiest_role: highest(broken?.utilisation ?? {}),
    points,
  };
}

function pointOf({ load, measured }: OverloadPoint): BreakagePoint {
  const figures = measured.figures!;
  const roles = [...new Set(figures.engines.map(({ role }) => role))];
  const utilisation = roles.map((role) => {
    const own = figures.engines.filter((engine) => engine.role === role);
    const sum = own.reduce((total, engine) => total + (engine.utilisation ?? 0), 0);
    return [role, roundTo(sum / own.length, 6)] as const;
  });
  return {
    load,
    request_rate: roundTo(measured.rate, 6),
    slo_attainment: figures.slo_attainment,
    by_objective: figures.slo_attainment_by_objective,
    utilisation: Object.fromEntries(utilisation),
    preemptions: figures.preemptions,
    rejected: figures.rejected,
  };
}

type Shares = Readonly<Record<string, number | null | undefined>>;

function lowest(shares: Shares): string | null {
  return ends(shares)[0] ?? null;
}

function highest(shares: Shares): string | null {
  return ends(shares).at(-1) ?? null;
}

/** Names by their shares, lowest first. */
function ends(shares: Shares): string[] {
  return Object.entries(shares)
    .sort(([, a], [, b]) => (a ?? 0) - (b ?? 0))
    .map(([name]) => name);
}
