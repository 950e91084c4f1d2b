import type { Micros } from '@baton/kernel';
import type { KvPoolTerms } from './member';

/** How long reading so many blocks from one other node takes once its link is free. */
export function fetchTimeUs(
  { latencyUs, bytesPerBlock, bytesPerSecond }: KvPoolTerms,
  blocks: number,
): Micros {
  return latencyUs + Math.round(((blocks * bytesPerBlock) / bytesPerSecond) * 1e6);
}
