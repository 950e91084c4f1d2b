export interface PathBounds {
  /**
   * Limit of late requests on the whole path. If no path keeps it, the one with the dearest late
   * requests is used.
   */
  readonly mostLate: number;
  /** Windows in which a starting engine costs without working. */
  readonly startupWindows: number;
}

/**
 * Range of the price of a late request, in engine-windows. Below it, no engine is worth its cost.
 */
const CHEAPEST = 1e-3;
const DEAREST = 1e4;
const HALVINGS = 24;

/**
 * The number of engines in each window, such that the limit of late requests holds at the fewest
 * engine-windows, starts included. The method is Lagrange's: a late request has a price, dynamic
 * programming finds the cheapest path for each price, and the search finds the lowest price that
 * keeps the limit. Each window is assumed to begin with the backlog of a constant number of
 * engines.
 *
 * @param lates the late requests of each window, at the index of the number of engines minus one
 */
export function cheapestPath(lates: readonly Float64Array[], bounds: PathBounds): number[] {
  let [low, high] = [Math.log(CHEAPEST), Math.log(DEAREST)];
  let best = pathAt(DEAREST, lates, bounds);
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    const path = pathAt(Math.exp(middle), lates, bounds);
    if (lateOf(path, lates) > bounds.mostLate) low = middle;
    else {
      high = middle;
      best = path;
    }
  }
  return best;
}

function lateOf(path: readonly number[], lates: readonly Float64Array[]): number {
  return path.reduce((total, engines, window) => total + lates[engines - 1]![window]!, 0);
}

/** Forwards the costs of ending a window with each number of engines, backwards the path. */
function pathAt(
  price: number,
  lates: readonly Float64Array[],
  { startupWindows }: PathBounds,
): number[] {
  const windows = lates[0]!.length;
  const from: Uint16Array[] = [];
  // The engines of the first window need no start.
  let costs = new Float64Array(lates.length);
  for (let window = 0; window < windows; window++) {
    const before = bestBefore(costs, window === 0 ? 0 : startupWindows);
    from.push(before.engines);
    costs = before.costs.map((cost, i) => cost + i + 1 + price * lates[i]![window]!);
  }
  const path = new Array<number>(windows);
  let last = indexOfLeast(costs);
  for (let window = windows - 1; window >= 0; window--) {
    path[window] = last + 1;
    last = from[window]![last]!;
  }
  return path;
}

/**
 * For each number of engines, the cheapest path to it from the previous window. Leaving is free, so
 * the cheapest of the larger numbers is one candidate; one engine more than the number below costs
 * one more start.
 */
function bestBefore(
  costs: Float64Array,
  startupWindows: number,
): { readonly costs: Float64Array; readonly engines: Uint16Array } {
  const best = new Float64Array(costs);
  const engines = Uint16Array.from(costs, (_cost, i) => i);
  const take = (at: number, other: number, cost: number): void => {
    if (cost >= best[at]!) return;
    best[at] = cost;
    engines[at] = engines[other]!;
  };
  for (let i = costs.length - 2; i >= 0; i--) take(i, i + 1, best[i + 1]!);
  for (let i = 1; i < costs.length; i++) take(i, i - 1, best[i - 1]! + startupWindows);
  return { costs: best, engines };
}

/** The index of the least value; of equal values, the first. */
export function indexOfLeast(values: Float64Array): number {
  let least = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! < values[least]!) least = i;
  return least;
}
