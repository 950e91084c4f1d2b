/** Observations that the line is fitted to, at least: Dynamo's min_observations. */
const FEWEST = 5;

interface Observation {
  readonly load: number;
  readonly latency: number;
}

/**
 * The least-squares line from load to latency through the last observations, as in
 * load_based_regression.py of Dynamo's planner.
 */
export class LoadLine {
  private readonly seen: Observation[] = [];

  /** @param window observations kept */
  constructor(private readonly window: number) {}

  observe(load: number, latency: number): void {
    this.seen.push({ load, latency });
    if (this.seen.length > this.window) this.seen.shift();
  }

  /**
   * The highest load that keeps the latency, at least 0. Undefined before the fifth observation.
   * Where the latency does not rise with the load: the lowest load that kept it, or else the lowest
   * of all.
   */
  loadAt(latency: number): number | undefined {
    const { seen } = this;
    if (seen.length < FEWEST) return undefined;
    const load = mean(seen.map((each) => each.load));
    const level = mean(seen.map((each) => each.latency));
    const spread = mean(seen.map((each) => (each.load - load) ** 2));
    const slope = mean(seen.map((each) => (each.load - load) * (each.latency - level))) / spread;
    if (slope > 0) return Math.max(0, load + (latency - level) / slope);
    const kept = seen.filter((each) => each.latency < latency);
    return Math.min(...(kept.length > 0 ? kept : seen).map((each) => each.load));
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
