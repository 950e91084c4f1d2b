import { availableParallelism } from 'node:os';
import { type BatonConfig, UsageError } from '@baton/config';

/** The resources of this machine for further processes. */
export interface Machine {
  readonly cores: number;
  /** Memory that new processes can have, of the machine or of the container. */
  readonly availableBytes: number;
}

/**
 * Idle workers use almost no CPU, busy ones share the cores: beyond this their heartbeats are late.
 * A choice, not a measurement; `max_processes` overrides it.
 */
const PROCESSES_PER_CORE = 16;
/** 2P2D, five processes and Redis, must fit in 300 MiB (bench/): 60 MiB each, rounded up. */
const PROCESS_BYTES = 64 * 1024 * 1024;
const MIB = 1024 * 1024;

export function thisMachine(): Machine {
  return { cores: availableParallelism(), availableBytes: process.availableMemory() };
}

/**
 * @param running processes of the cluster that run or will start
 * @throws UsageError when the machine has no room for `more`, in numbers
 */
export function checkProcesses(
  { maxProcesses }: Pick<BatonConfig, 'maxProcesses'>,
  { running, more }: { readonly running: number; readonly more: number },
  machine: Machine,
): void {
  const { cores, availableBytes } = machine;
  const ofMemory = running + Math.floor(availableBytes / PROCESS_BYTES);
  const most = maxProcesses ?? Math.min(cores * PROCESSES_PER_CORE, ofMemory);
  if (running + more <= most) return;
  const why =
    maxProcesses === undefined
      ? `${cores} cores and ${Math.floor(availableBytes / MIB)} MiB of available memory; ` +
        'max_processes sets another limit'
      : 'max_processes';
  throw new UsageError(
    `${more} more processes would make ${running + more}; the limit of this machine is ${most} ` +
      `(${why}).`,
  );
}
