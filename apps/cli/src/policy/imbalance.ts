import { mean } from '@baton/kernel';

export interface BusyEngine {
  readonly role: string;
  /** Simulated seconds in steps. Null: not known. */
  readonly busy_seconds: number | null;
}

/**
 * The busy time of the busiest engine over the mean of its role, from the role with the largest
 * ratio. 1: all engines are equally busy. Null: no engine was busy.
 */
export function imbalanceOf(engines: readonly BusyEngine[]): number | null {
  const roles = [...new Set(engines.map(({ role }) => role))];
  const ratios = roles.map((role) => {
    const busy = engines.filter((each) => each.role === role).map((each) => each.busy_seconds ?? 0);
    const average = mean(busy);
    return average === 0 ? 0 : Math.max(...busy) / average;
  });
  const worst = Math.max(...ratios);
  return worst > 0 ? worst : null;
}
