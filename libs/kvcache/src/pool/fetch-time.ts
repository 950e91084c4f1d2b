import type { Micros } from '@baton/kernel';
import type { KvPoolTerms } from './member';

/** Time to read this many blocks from one other node once its link is free. */
export function fetchTimeUs(
  { latencyUs, bytesPerBlock, bytesPerSecond }: KvPoolTerms,
  blocks: number,
): Micros {
  return latencyUs + Math.round(((blocks * bytesPerBlock) / bytesPerSecond) * 1e6);
}
