import type { Micros } from '@baton/kernel';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import type { DemandCurve } from './demand';

export interface OracleSpec {
  readonly kind: 'oracle';
}

/**
 * Knows the trace: has the engines ready for the highest demand until an engine that starts at the
 * next decision could be. It is the bound for what a policy without that knowledge can save at the
 * same demand; it is not an optimum.
 */
export class Oracle implements ScalePolicy {
  constructor(
    private readonly demand: DemandCurve,
    /** From one decision to when the engines of the next one take work. */
    private readonly aheadUs: Micros,
  ) {}

  decide({ nowUs }: ScaleContext): ScaleDecision {
    return { counts: this.demand.most(nowUs, nowUs + this.aheadUs) };
  }
}
