import { UsageError } from '@baton/config';
import { type EngineRole, formatTopology, parseEngines, type Topology } from '@baton/policies';
import { isAsGood } from './shares';
import type { ScalingTrial } from './trial';

/**
 * The largest split within the bounds, and the best fixed split: the smallest one that keeps the
 * target share of requests within the SLO, and of each SLO class within its own targets. Where the
 * largest split misses a target, the best one is within half a point of it. The search follows the
 * border between splits that keep the targets and those that do not, and assumes that more engines
 * of a role are never worse.
 *
 * @throws UsageError for bounds with prefill, decode and aggregated engines
 */
export function bestStatic(
  bounds: { readonly min: string; readonly max: string },
  target: number,
  attempt: (topology: string) => ScalingTrial,
): readonly ScalingTrial[] {
  const [min, max] = [parseEngines(bounds.min), parseEngines(bounds.max)];
  const [first = 'prefill', second, third] = rolesIn(max);
  if (third !== undefined) {
    throw new UsageError(
      '--autoscalers compares prefill and decode engines, or aggregated ones. Use one kind in max.',
    );
  }
  const largest = attempt(formatTopology(max));
  let best = largest;
  const counts: Record<EngineRole, number> = { ...max };
  if (second !== undefined) counts[second] = min[second];
  while (counts[first] >= min[first]) {
    const trial = attempt(formatTopology(counts));
    const isEnough = isAsGood(trial, largest, target);
    if (isEnough && trial.gpu_hours < best.gpu_hours) best = trial;
    if (isEnough) counts[first]--;
    else if (second !== undefined && counts[second] < max[second]) counts[second]++;
    else break;
  }
  return best === largest ? [largest] : [best, largest];
}

/** The roles with engines. */
export function rolesIn(max: Topology): EngineRole[] {
  return (['prefill', 'decode', 'aggregated'] as const).filter((role) => max[role] > 0);
}
