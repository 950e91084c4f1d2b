import type { CostRates } from '@baton/analysis';
import type { BatonConfig } from '@baton/config';
import { type SloTarget } from '../candidates/trial';
import type { Workload } from '@baton/workload';

/** The common data of all tasks of a plan. Plain data, so that it can be posted to a thread. */
export interface PlanningContext {
  readonly config: BatonConfig;
  readonly workload: Workload;
  readonly target: SloTarget;
  /** Undefined: no cost is reported. */
  readonly rates?: CostRates | undefined;
}
