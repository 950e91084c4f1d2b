import type { ClusterScenario } from '@baton/simulation';
import { roundTo } from '@baton/analysis';
import type { PolicyMetrics } from './live-metrics';

const SECONDS_PER_HOUR = 3_600;

export interface LoadTimes {
  /** Wall seconds between the two scrapes. */
  readonly betweenSeconds: number;
  /** Wall seconds of the load, which ends with the second scrape. */
  readonly loadSeconds: number;
  readonly speedup: number;
}

/**
 * Simulated GPU-hours of the engines while the load ran: engines × GPUs × time. Between the first
 * scrape and the load, the engines are those of the first scrape. Null: the load has no duration.
 */
export function gpuHours(
  { pools }: Pick<ClusterScenario, 'pools'>,
  [before, after]: readonly [PolicyMetrics, PolicyMetrics],
  { betweenSeconds, loadSeconds, speedup }: LoadTimes,
): number | null {
  const idleSeconds = Math.max(0, betweenSeconds - loadSeconds);
  const gpuSeconds = pools.reduce((sum, { role, gpus }) => {
    const engines = before.engines.get(role) ?? 0;
    const [from, to] = [before, after].map(({ engineSeconds }) => engineSeconds.get(role) ?? 0);
    return sum + gpus * Math.max(0, to! - from! - engines * idleSeconds);
  }, 0);
  return roundTo((gpuSeconds * speedup) / SECONDS_PER_HOUR, 6);
}
