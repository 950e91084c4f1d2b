import { type Micros, secondsToUs } from '@baton/kernel';
import type { Topology } from '../../placement/topology/topology';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';

export interface ScheduleEntry {
  /** Instant of the entry after the start of a period. */
  readonly atUs: Micros;
  readonly counts: Topology;
}

export interface ScheduleSpec {
  readonly kind: 'schedule';
  /** In order of time; at least one. */
  readonly entries: readonly ScheduleEntry[];
  readonly periodUs: Micros;
}

export const DAY_US: Micros = secondsToUs(86_400);

/**
 * Counts by the time of day, as KEDA's cron scaler. An entry holds until the next one. The last
 * entry of a period holds until the first entry of the next period.
 */
export class Scheduled implements ScalePolicy {
  constructor(private readonly spec: ScheduleSpec) {}

  decide({ nowUs }: ScaleContext): ScaleDecision {
    const { entries, periodUs } = this.spec;
    const timeUs = nowUs % periodUs;
    const entry = entries.findLast(({ atUs }) => atUs <= timeUs) ?? entries.at(-1);
    return { counts: entry!.counts };
  }
}
