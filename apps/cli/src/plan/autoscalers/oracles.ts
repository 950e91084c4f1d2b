import { formatTopology, parseEngines } from '@baton/policies';
import { rolesIn } from './best-static';
import { withLargestShares, isAsGood } from './shares';
import type { ScalingTrial } from './trial';

/** Shares of late prompts that the model of a plan allows, tried in turn. */
const LATES = [0, 0.005, 0.02] as const;

/** The oracles of a comparison: for the SLO, and for GPU-hours. */
export const ORACLES = ['oracle', 'oracle like the best split'] as const;

/** The best fixed split and the largest split of these bounds. */
interface Splits {
  readonly min: string;
  readonly max: string;
  readonly trials: readonly ScalingTrial[];
}

/**
/**
 * The cheapest plans with full knowledge of the trace. Candidates are fixed splits, and plans by
 * the model of `oracle:` with at least the engines of the bounds, of the best split less one engine
 * of its first role, or of the best split with all engines of that role. The first oracle comes
 * within half a point of the highest attainment of any candidate, the second within half a point of
 * the best split; with SLO classes, in the share of each class too.
 *
 * @param attempt replays a plan of the model with at least `min` engines
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
    const passing = plans.filter((plan) => isAsGood(plan, bars[i]!));
    const cheapest = passing.reduce((a, b) => (b.gpu_hours < a.gpu_hours ? b : a));
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
