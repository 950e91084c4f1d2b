import type { OutputPlan } from '@baton/text';

/** The plans of many sequences in few objects, because copying costs time per object. */
export interface PackedPlans {
  /** The tokens of all plans, one after the other. */
  readonly ids: Int32Array;
  readonly plans: readonly Omit<OutputPlan, 'tokenIds'>[];
}

export function packPlans(plans: readonly OutputPlan[]): PackedPlans {
  const total = plans.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const ids = new Int32Array(total);
  let at = 0;
  const rest = plans.map(({ tokenIds, ...plan }) => {
    ids.set(tokenIds, at);
    at += tokenIds.length;
    return plan;
  });
  return { ids, plans: rest };
}

/** The tokens of each plan are found by its count. */
export function unpackPlans({ ids, plans }: PackedPlans): OutputPlan[] {
  let at = 0;
  return plans.map((plan) => {
    const tokenIds = ids.subarray(at, at + plan.count);
    at += plan.count;
    return { ...plan, tokenIds };
  });
}
