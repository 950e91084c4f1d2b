import { readableMs } from '../format';

/**
 * `since 14:03:05 (2 min)` on the live page. A recorded run has no time of day:
 * `since 5 s (2 min)` counts from its start.
 */
export function sinceText(sinceMs: number, nowMs: number, isRecorded: boolean): string {
  const at = isRecorded
    ? readableMs(sinceMs)
    : new Date(sinceMs).toLocaleTimeString([], { hour12: false });
  const length = readableMs(Math.max(0, Math.round((nowMs - sinceMs) / 1_000) * 1_000));
  return `since ${at} (${length})`;
}
