import { join } from 'node:path';
import type { Stage } from '@baton/contract';
import type { BatonConfig } from '@baton/runtime';
import type { ProcessSpec } from './supervised-process';

export type Role = 'api' | Stage;

export const STAGES_OF_WORKERS = ['prefill', 'decode', 'aggregated'] as const;

/** Engines of each stage. */
export type EngineCounts = Readonly<Record<Stage, number>>;

export const NO_ENGINES: EngineCounts = { prefill: 0, decode: 0, aggregated: 0 };

const APPS = join(__dirname, '..', '..', '..');
/** An aggregated engine streams tokens to the API as a decode engine does, so the same process runs both. */
const APP_OF_ROLE: Readonly<Record<Role, string>> = {
  api: 'api',
  prefill: 'prefill',
  decode: 'decode',
  aggregated: 'decode',
};

/** Compiled main module of the app that plays a role. */
export function entryOf(role: Role): string {
  return join(APPS, APP_OF_ROLE[role], 'src', 'main.js');
}

/**
 * The processes of a cluster over Redis: one API, and per stage as many workers as its engines need at `engines_per_process`. Each gets a
 * configuration with its own role and its own number of engines.
 */
export function planProcesses(config: BatonConfig, engines: EngineCounts): ProcessSpec[] {
  const workers = STAGES_OF_WORKERS.flatMap((stage) =>
    packed(engines[stage], config.enginesPerProcess).map((count, index) => ({
      name: `${stage}-${index}`,
      entry: entryOf(stage),
      config: { ...config, role: stage, enginesPerProcess: count },
    })),
  );
  return [{ name: 'api', entry: entryOf('api'), config: { ...config, role: 'api' } }, ...workers];
}

/** Without Redis one process plays all roles: the API's, told no role. */
export function planOneProcess(config: BatonConfig): ProcessSpec[] {
  return [{ name: 'api', entry: entryOf('api'), config: { ...config, role: undefined } }];
}

/** 7 engines at 3 per process: 3, 3, 1. */
function packed(engines: number, perProcess: number): number[] {
  const processes = Math.ceil(engines / perProcess);
  return Array.from({ length: processes }, (_none, i) =>
    Math.min(perProcess, engines - i * perProcess),
  );
}
