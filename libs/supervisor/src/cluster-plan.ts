import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { BatonConfig } from '@baton/config';
import type { Stage } from '@baton/contract';
import { withUpstreams } from '@baton/engine-host';
import { parseEngines } from '@baton/policies';
import type { ProcessSpec } from './supervised-process';

export type Role = 'api' | Stage;

export const STAGES_OF_WORKERS = ['prefill', 'decode', 'aggregated'] as const;

/** Engines of each stage. */
export type StageCounts = Readonly<Record<Stage, number>>;

export const NO_ENGINES: StageCounts = { prefill: 0, decode: 0, aggregated: 0 };

/** Apps are started from their compiled files beside the libs. */
const APPS = join(__dirname, '..', '..', '..', 'apps');
/**
 * An aggregated engine streams tokens to the API as a decode engine does, so the same process runs
 * both.
 */
const APP_OF_ROLE: Readonly<Record<Role, string>> = {
  api: 'api',
  prefill: 'prefill',
  decode: 'decode',
  aggregated: 'decode',
};

/** Compiled main module of a role's app. */
export function entryOf(role: Role): string {
  return join(APPS, APP_OF_ROLE[role], 'src', 'main.js');
}

/**
 * The processes of a cluster over Redis: one API, and per stage as many workers as its engines need
 * at `engines_per_process`. Each gets a configuration with its own role and its own number of
 * engines.
 *
 * @param cores  of the machine, which unset `engines_per_process` are shared by
 */
export function planProcesses(
  config: BatonConfig,
  engines: StageCounts,
  cores = availableParallelism(),
): ProcessSpec[] {
  const used = STAGES_OF_WORKERS.filter((stage) => engines[stage] > 0);
  const processes = Math.max(1, Math.floor(cores / used.length));
  const workers = used.flatMap((stage) => {
    const perProcess = config.enginesPerProcess ?? Math.ceil(engines[stage] / processes);
    return planWorkers(config, { stage, engines: engines[stage], firstIndex: 0, perProcess });
  });
  return [{ name: 'api', entry: entryOf('api'), config: { ...config, role: 'api' } }, ...workers];
}

export interface WorkersWanted {
  readonly stage: Stage;
  readonly engines: number;
  /** Number in the name of the first. */
  readonly firstIndex: number;
  readonly perProcess: number;
}

/** Workers for some engines of one stage. */
export function planWorkers(config: BatonConfig, wanted: WorkersWanted): ProcessSpec[] {
  const { stage, engines, firstIndex, perProcess } = wanted;
  return packed(engines, perProcess).map((count, index) => ({
    name: `${stage}-${firstIndex + index}`,
    entry: entryOf(stage),
    config: {
      ...withUpstreams(config, stage, { from: index * perProcess, count }),
      role: stage,
      enginesPerProcess: count,
      firstEngine: firstIndex + index * perProcess,
    },
  }));
}

/**
 * The specification for a worker's restart with its current engines, in the notation of topologies;
 * undefined when it has none.
 */
export function withEngines(spec: ProcessSpec, engines: string): ProcessSpec | undefined {
  if (engines === '') return undefined;
  const counts = parseEngines(engines);
  const role = STAGES_OF_WORKERS.find((stage) => counts[stage] > 0) ?? 'prefill';
  const config = { ...spec.config, role, workerEngines: engines };
  return { ...spec, entry: entryOf(role), config };
}

/** Without Redis one process has all roles: the API's, started without a role. */
export function planOneProcess(config: BatonConfig): ProcessSpec[] {
  const alone = { ...config, role: undefined, redis: undefined };
  return [{ name: 'api', entry: entryOf('api'), config: alone }];
}

/** 7 engines at 3 per process: 3, 3, 1. */
function packed(engines: number, perProcess: number): number[] {
  const processes = Math.ceil(engines / perProcess);
  return Array.from({ length: processes }, (_none, i) =>
    Math.min(perProcess, engines - i * perProcess),
  );
}
