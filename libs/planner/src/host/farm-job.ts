import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { Failure, VERSION } from '@baton/kernel';
import type { FileSums } from '../files/named-files';
import type { PlanningContext } from '../search/planning-context';

import type { PlanTask, TaskResult } from '../candidates/plan-task';

/** A trial in the queue. V8 serialises it, which keeps undefined and infinite values. */
export interface FarmJob {
  /** The search of the trial. */
  readonly search: string;
  /** Base64. */
  readonly task: string;
  /** The files that its configuration names, which a planner reads in its own folder. */
  readonly files: FileSums;
}

/** Names in one Redis. */
export function farmNames(prefix: string) {
  return {
    queue: `${prefix}-planner`,
    context: (search: string) => `${prefix}:planner:context:${search}`,
    cancelled: (search: string) => `${prefix}:planner:cancelled:${search}`,
  };
}

/** Maximum size of a context: the requests of a workload, some 100 bytes each. */
const MOST_CONTEXT_BYTES = 2 ** 28;

/** A search as bytes, with its name: equal inputs have equal names, so that it can be resumed. */
export function searchOf(context: PlanningContext): { name: string; bytes: Buffer } {
  const bytes = serialize(context);
  if (bytes.length > MOST_CONTEXT_BYTES) {
    throw new Failure('The workload is too large for planners (limit 256 MiB). Add --limit.');
  }
  return { name: digest(bytes), bytes };
}

export function contextFrom(bytes: Buffer): PlanningContext {
  return deserialize(bytes) as PlanningContext;
}

export function packed(value: PlanTask | TaskResult): string {
  return serialize(value).toString('base64');
}

export function unpacked<T extends PlanTask | TaskResult>(text: string): T {
  return deserialize(Buffer.from(text, 'base64')) as T;
}

/** The same trial of the same search with the same files always has the same id. */
export function jobIdOf({ search, task, files }: FarmJob): string {
  return digest(Buffer.from(`${search}:${task}:${JSON.stringify(files)}`));
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(VERSION).update(bytes).digest('hex').slice(0, 32);
}
