import type { BatonConfig } from '../config';

/** The y of vLLM 0.y. */
export function vllmMinorOf({ vllmVersion }: BatonConfig): number {
  return Number(vllmVersion.split('.')[1]);
}
