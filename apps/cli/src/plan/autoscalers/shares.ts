import type { ScalingTrial } from './trial';

/** Difference of two shares up to which they count as equal. */
const AS_GOOD = 0.005;

/** The share of requests within the SLO, and of each SLO class within its own targets. */
export function sharesOf({ slo_attainment, slo_classes = [] }: ScalingTrial): readonly number[] {
  return [slo_attainment, ...slo_classes.map((each) => each.slo_attainment)].map(
    (share) => share ?? 0,
  );
}

/** Whether no share of the trial is below what the other one has, or below the target. */
export function isAsGood(trial: ScalingTrial, other: ScalingTrial, target = 1): boolean {
  const enough = sharesOf(other).map((share) => Math.min(target, share - AS_GOOD));
  return sharesOf(trial).every((share, i) => share >= enough[i]!);
}

/** The trial with the largest sum of its shares of requests in time. */
export function withLargestShares(trials: readonly ScalingTrial[]): ScalingTrial {
  const sum = (trial: ScalingTrial): number => sharesOf(trial).reduce((all, each) => all + each, 0);
  return trials.reduce((best, trial) => (sum(trial) > sum(best) ? trial : best));
}
