import type { Micros } from '@baton/kernel';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import type { WindowCounts } from './window-counts';

export interface OracleSpec {
  readonly kind: 'oracle';
  /** Share of prompts that may be late beyond those with the most engines, 0..1. */
  readonly late: number;
}

/**
 * Reads the trace: keeps the engines ready that the windows need until an engine that starts at the
 * next decision could be ready. It shows the value of knowing the future; because the needs come
 * from a model, it is not a proven optimum.
 */
export class Oracle implements ScalePolicy {
  constructor(
    private readonly needs: WindowCounts,
    /** Time from one decision until the engines of the next one take work. */
    private readonly aheadUs: Micros,
  ) {}

  decide({ nowUs }: ScaleContext): ScaleDecision {
    return { counts: this.needs.most(nowUs, nowUs + this.aheadUs) };
  }
}
