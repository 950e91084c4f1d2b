import type { PolicyDecision } from '@baton/policies';

export interface PolicyDecisionCount extends Omit<PolicyDecision, 'wallMs'> {
  readonly count: number;
  /** Wall time of all of them. */
  readonly seconds: number;
}

/** Counts the decisions of this process's policies, and their time, by kind, stage and policy. */
export class PolicyDecisionBook {
  private readonly counted = new Map<string, PolicyDecisionCount>();

  add({ wallMs, ...decision }: PolicyDecision): void {
    const { kind, stage, policy } = decision;
    const key = `${kind} ${stage} ${policy}`;
    const { count, seconds } = this.counted.get(key) ?? { count: 0, seconds: 0 };
    const longer = { count: count + 1, seconds: seconds + wallMs / 1_000 };
    this.counted.set(key, { ...decision, ...longer });
  }

  get counts(): readonly PolicyDecisionCount[] {
    return [...this.counted.values()];
  }
}
