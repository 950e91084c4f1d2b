import type { Micros } from '@baton/kernel';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import type { WindowCounts } from './window-counts';

export interface OracleSpec {
  readonly kind: 'oracle';
  /** Share of prompts that may be late beyond those with the most engines, 0..1. */
  readonly late: number;
}

/**
 * Reads the trace. It keeps as many engines ready as the windows need until an engine that starts
 * at the next decision could be ready. It shows the value of knowing the future. It is not a
 * proven optimum, because a model estimates the needs.
 */
export class Oracle implements ScalePolicy {
  constructor(
    private readonly needs: WindowCounts,
    /** Time from one decision until engines started by the next one accept work. */
    private readonly aheadUs: Micros,
  ) {}

  decide({ nowUs }: ScaleContext): ScaleDecision {
    return { counts: this.needs.most(nowUs, nowUs + this.aheadUs) };
  }
}
