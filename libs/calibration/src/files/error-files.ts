import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ModelErrors, StepTimesSummary } from '@baton/analysis';
import { type ErrorRow, parseErrorTable } from '../error-bars/error-table';
import { modelErrorsAt } from '../error-bars/model-errors';

/** The shipped table, beside the sources and beside the build. */
export const ERROR_TABLE = join('data', 'errors', 'serving.csv');

let shipped: readonly ErrorRow[] | undefined;

/** The errors learned from published serving points; data/errors/README.md. */
export function shippedErrors(): readonly ErrorRow[] {
  shipped ??= parseErrorTable(readFileSync(join(rootFolder(), ERROR_TABLE), 'utf8'));
  return shipped;
}

/** GPUs by role, from a configuration. */
export interface DeployedGpus {
  readonly gpu: string;
  readonly prefillGpu?: string | undefined;
  readonly decodeGpu?: string | undefined;
}

/** The shipped errors for engines with step times of these origins. */
export function deploymentErrors(
  { gpu, prefillGpu, decodeGpu }: DeployedGpus,
  stepTimes: readonly StepTimesSummary[],
): (load: number) => ModelErrors {
  const own: Record<string, string | undefined> = { prefill: prefillGpu, decode: decodeGpu };
  const roles = stepTimes.map(({ role, method, held_out_factors: heldOut }) => ({
    role,
    method,
    gpu: own[role] ?? gpu,
    ...(heldOut === undefined ? {} : { heldOut }),
  }));
  return modelErrorsAt(roles, shippedErrors());
}

/** The folder that has `data`. */
export function rootFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'data', 'operators')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return folder;
}
