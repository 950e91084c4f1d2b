import {
  ALL_SYSTEMS,
  ERROR_FIGURES,
  type ErrorFigure,
  type ErrorRow,
  errorRowFor,
} from './error-table';

/** One measured figure with its simulation. */
export interface ErrorPoint {
  /** Points of one group have the same deployment, with different sizes and loads. */
  readonly group: string;
  readonly system: string;
  readonly figure: ErrorFigure;
  /** Requests under way on an engine. */
  readonly load: number;
  /** Measured / simulated, > 0. */
  readonly ratio: number;
}

/** Ranges of few, some and many requests. Published points lie at powers of two. */
const LOADS = [
  [0, 12],
  [12, 96],
  [96, Infinity],
] as const;
/**
 * Minimum number of points, and of groups, for rows of a class of systems. With 20 instead of 10,
 * racks with 96 and more requests per engine (15 points) would take the row of all systems, which
 * held 33 % of them when left out; their own row holds 80 %.
 */
const POINTS_MIN = 10;
const GROUPS_MIN = 4;
const [LOWER, UPPER] = [0.1, 0.9];
const PAIRS = 0.8;

/** The errors of all points by system, figure and load. */
export function learnErrors(points: readonly ErrorPoint[]): ErrorRow[] {
  const systems = [ALL_SYSTEMS, ...new Set(points.map(({ system }) => system))];
  return systems.flatMap((system) =>
    ERROR_FIGURES.flatMap((figure) =>
      LOADS.flatMap((load) => rowOf({ system, figure, load }, points) ?? []),
    ),
  );
}

interface Cell {
  readonly system: string;
  readonly figure: ErrorFigure;
  readonly load: readonly [from: number, to: number];
}

function rowOf({ system, figure, load }: Cell, points: readonly ErrorPoint[]) {
  const [loadFrom, loadTo] = load;
  const own = points.filter((point) => {
    const isSystem = system === ALL_SYSTEMS || point.system === system;
    return isSystem && point.figure === figure && point.load >= loadFrom && point.load < loadTo;
  });
  const groups = groupsOf(own);
  const isEnough = own.length >= POINTS_MIN && groups.length >= GROUPS_MIN;
  if (own.length === 0 || (system !== ALL_SYSTEMS && !isEnough)) return undefined;
  const weighed = groups.flatMap((ratios) => weighted(ratios));
  return {
    system,
    figure,
    loadFrom,
    loadTo,
    points: own.length,
    groups: groups.length,
    low: quantileOf(weighed, LOWER),
    median: quantileOf(weighed, 0.5),
    high: quantileOf(weighed, UPPER),
    apart: quantileOf(
      groups.flatMap((ratios) => weighted(pairsOf(ratios))),
      PAIRS,
    ),
  };
}

function groupsOf(points: readonly ErrorPoint[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const { group, ratio } of points) groups.set(group, [...(groups.get(group) ?? []), ratio]);
  return [...groups.values()];
}

type Weighted = readonly [value: number, weight: number];

/** The weight of a group is the root of its size: more than one point, less than all of them. */
function weighted(values: readonly number[]): Weighted[] {
  return values.map((value) => [value, 1 / Math.sqrt(values.length)]);
}

/** The ratio of every pair, the larger over the smaller. */
function pairsOf(ratios: readonly number[]): number[] {
  return ratios.flatMap((one, i) =>
    ratios.slice(i + 1).map((other) => Math.max(one / other, other / one)),
  );
}

/** The value that a share of the weight does not exceed. 1, no error, without values. */
function quantileOf(values: readonly Weighted[], share: number): number {
  const ascending = [...values].sort(([a], [b]) => a - b);
  const total = ascending.reduce((sum, [, weight]) => sum + weight, 0);
  let seen = 0;
  for (const [value, weight] of ascending) {
    seen += weight;
    if (seen >= share * total) return value;
  }
  return ascending.at(-1)?.[0] ?? 1;
}

/** The share of points outside of the fit that their intervals contained. */
export interface Coverage {
  /** `hopper tpot, 12 to 96 under way`, a figure, or a group. */
  readonly name: string;
  readonly points: number;
  /** 0..1. */
  readonly held: number;
}

/**
 * Leaves out one group after another, learns from the rest, and checks whether the intervals
 * contain the true values of the group. No point is checked by a row that its own deployment has
 * influenced.
 */
export function crossValidate(points: readonly ErrorPoint[]): Coverage[] {
  const counts = new Map<string, { points: number; held: number }>();
  for (const group of new Set(points.map((point) => point.group))) {
    const rows = learnErrors(points.filter((point) => point.group !== group));
    for (const point of points.filter((each) => each.group === group)) {
      const isHeld = holds(rows, point);
      for (const name of namesOf(point)) {
        const count = counts.get(name) ?? { points: 0, held: 0 };
        counts.set(name, { points: count.points + 1, held: count.held + (isHeld ? 1 : 0) });
      }
    }
  }
  return [...counts].map(([name, { points: count, held }]) => {
    return { name, points: count, held: held / count };
  });
}

/** The interval always contains the figure itself (docs/error-bars.md). */
function holds(rows: readonly ErrorRow[], point: ErrorPoint): boolean {
  const row = errorRowFor(rows, point);
  if (row === undefined) return false;
  return Math.min(1, row.low) <= point.ratio && point.ratio <= Math.max(1, row.high);
}

function namesOf({ system, figure, load, group }: ErrorPoint): string[] {
  const [from, to] = LOADS.find((range) => load >= range[0] && load < range[1])!;
  const range = to === Infinity ? `${from} and more` : `${from} to ${to}`;
  return ['all', `all ${figure}`, `${system} ${figure}, ${range} under way`, `${group}: ${figure}`];
}
