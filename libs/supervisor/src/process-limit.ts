import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type BatonConfig, UsageError } from '@baton/config';
import { Failure } from '@baton/kernel';

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
/** Files and sockets of an API process without clients, and as many for a few dozen of these. */
const LEAST_OPEN_FILES = 256;

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

/**
 * The number of files that a process of this user may open (`ulimit -n`), which Node has raised to
 * the hard limit; undefined where there is no /proc.
 */
function openFilesLimit(): number | undefined {
  try {
    const [, most] =
      /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}

/** @throws Failure when a cluster could not open its files and sockets */
export function checkOpenFiles(most = openFilesLimit()): void {
  if (most === undefined || most >= LEAST_OPEN_FILES) return;
  throw new Failure(
    `a process here may open ${most} files (ulimit -n); a cluster needs ${LEAST_OPEN_FILES} and ` +
      'one for each connection of a client. Raise the limit.',
  );
}
