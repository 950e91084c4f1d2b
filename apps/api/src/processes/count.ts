import { availableParallelism } from 'node:os';
import type { BatonConfig } from '@baton/config';

const CORES_PER_PROCESS = 2;
const MOST = 64;

/** Number of API processes that share the port. In one process with the engines there is one. */
export function apiProcessesOf(
  { apiProcesses, redis }: Pick<BatonConfig, 'apiProcesses' | 'redis'>,
  cores = availableParallelism(),
): number {
  if (redis === undefined) return 1;
  if (apiProcesses !== 'auto') return Number(apiProcesses);
  return Math.min(MOST, Math.max(1, Math.floor(cores / CORES_PER_PROCESS)));
}
