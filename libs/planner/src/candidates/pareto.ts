/**
 * Numbers by which points are compared; smaller is better, so negate values that should be large.
 */
export type Costs<T> = (point: T) => readonly number[];

/**
 * The points that no other point beats: at least as good in every cost and better in one. In their
 * order.
 */
export function paretoFront<T>(points: readonly T[], costsOf: Costs<T>): T[] {
  const costs = points.map(costsOf);
  return points.filter((_, i) => !costs.some((other, j) => j !== i && isBetter(other, costs[i]!)));
}

function isBetter(a: readonly number[], b: readonly number[]): boolean {
  return a.every((cost, i) => cost <= b[i]!) && a.some((cost, i) => cost < b[i]!);
}
