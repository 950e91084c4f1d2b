import type { SharedInstant } from './shared-instant';

export interface WatchTimes {
  /** Time between two looks, ms: the age of a heartbeat that is late. */
  readonly everyMs: number;
  /** Length of a lease, ms. One that begins between two looks lasts until the second. */
  readonly forMs: number;
}

/**
 * Looks at the heartbeat of another thread again and again, for the life of this one. An idle
 * thread marks its next heartbeat ahead, so until that is late there is nothing to see.
 */
export function watchHeartbeat(
  heartbeat: SharedInstant,
  { everyMs, forMs }: WatchTimes,
  look: () => Promise<void>,
): void {
  void look();
  const untilLateMs = everyMs - heartbeat.ageMs();
  const waitMs = Math.max(everyMs, Math.min(forMs - everyMs, untilLateMs));
  setTimeout(() => watchHeartbeat(heartbeat, { everyMs, forMs }, look), waitMs);
}
