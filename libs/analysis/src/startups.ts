import { startupLength, usToSeconds } from '@baton/kernel';
import { roundTo } from './round-to';
import type { EngineRoleName } from './run-record';
import type { ScalingRecord } from './scaling-record';

const SECONDS_PER_HOUR = 3_600;

/** The starts of engines by cause; seconds are simulated. */
export interface StartupSummary {
  readonly starts: number;
  /** Sums over all starts. */
  readonly engine_hours: Readonly<Record<string, number | null>>;
  readonly each: readonly {
    readonly at_seconds: number;
    readonly role: EngineRoleName;
    readonly engine: number;
    readonly seconds: Readonly<Record<string, number>>;
  }[];
}

/** Undefined where no cause is known. */
export function startupSummary({ startups }: ScalingRecord): StartupSummary | undefined {
  const all = startups.flatMap(({ phases }) => phases);
  const causes = [...new Set(all.map(({ cause }) => cause))];
  if (causes.every((cause) => cause === 'startup')) return undefined;
  const hoursOf = (cause: string): number =>
    usToSeconds(startupLength(all.filter((phase) => phase.cause === cause))) / SECONDS_PER_HOUR;
  return {
    starts: startups.length,
    engine_hours: Object.fromEntries(causes.map((cause) => [cause, roundTo(hoursOf(cause), 6)])),
    each: startups.map(({ atUs, role, engine, phases }) => ({
      at_seconds: usToSeconds(atUs),
      role,
      engine,
      seconds: Object.fromEntries(phases.map(({ cause, us }) => [cause, usToSeconds(us)])),
    })),
  };
}
