import { formatTopology, parseEngines } from '@baton/placement';
import { rolesIn } from './best-static';
import { withLargestShares, isAsGood } from './shares';
import type { ScalingTrial } from './trial';

/** Shares of late prompts that the model of a plan may allow. */
const LATES = [0, 0.005, 0.02] as const;

/** The oracles of a comparison: for the SLO, and for GPU-hours. */
export const ORACLES = ['oracle', 'oracle like the best split'] as const;

/** The best split that stays, then the largest, of these bounds. */
interface Splits {
  readonly min: string;
  readonly max: string;
  readonly trials: readonly ScalingTrial[];
}

/**
 * The cheapest plans of one who knows the trace, and so how each plan ends. Tried are the splits
 * that stay, and plans by the model of `oracle:` that never have fewer engines than the bounds, or
 * than the best split with one less of its first role, or with all of it. The first oracle comes
 * within half a point of the most that a plan attains, the second within half a point of the best
 * split; with SLO classes in the share of each class too.
 *
 * @param attempt replays a plan of the model that never has fewer engines than `min`
 */
export function searchOracles(
  splits: Splits,
  attempt: (oracle: string, min: string) => ScalingTrial,
): readonly ScalingTrial[] {
  const planned = floorsOf(splits).flatMap((min) =>
    LATES.map((late) => attempt(`oracle:late=${late}`, min)),
  );
  const plans = [...planned, ...splits.trials];
  const bars = [withLargestShares(plans), splits.trials[0]!];
  return ORACLES.map((autoscaler, i) => {
    const kept = plans.filter((plan) => isAsGood(plan, bars[i]!));
    const cheapest = kept.reduce((a, b) => (b.gpu_hours < a.gpu_hours ? b : a));
    return { ...cheapest, autoscaler, topology: null };
  });
}

function floorsOf({ min, max, trials }: Splits): readonly string[] {
  const [fewest, most] = [parseEngines(min), parseEngines(max)];
  const best = parseEngines(trials[0]!.topology ?? min);
  const [first = 'prefill'] = rolesIn(most);
  const oneLess = { ...best, [first]: Math.max(fewest[first], best[first] - 1) };
  const floors = [fewest, oneLess, { ...best, [first]: most[first] }].map(formatTopology);
  return [...new Set(floors)].filter((floor) => floor !== formatTopology(most));
}
