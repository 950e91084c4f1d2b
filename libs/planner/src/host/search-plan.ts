import { NothingKept } from '../candidates/nearest-miss';
import type { PlanTask, TaskResult } from '../candidates/plan-task';
import { type PlanQuestion, type PlanStage, searchSplits } from '../candidates/search-splits';
import { type PlanResult } from '../candidates/split-result';
import type { PreparedPlan } from '../prepare-plan';
import { nothingKept } from '../search/nothing-kept';
import type { PlanningContext } from '../search/planning-context';
import type { Watch } from '../search/watch';
import { openTaskPool, type TaskPool } from './task-pool';

export interface SearchOptions extends Pick<PlanQuestion, 'mostSimulated'> {
  /** Number of threads that simulate. 1: only the calling thread. */
  readonly threads: number;
  /** Time of the search, ms. Unset: until it is complete. */
  readonly budgetMs?: number | undefined;
  /** Opens a pool that performs the trials instead of threads. */
  readonly openPool?: ((context: PlanningContext) => TaskPool) | undefined;
}

/** The part of a time budget after which a stage stops. */
const STAGE_ENDS: Readonly<Record<PlanStage, number>> = {
  'sample 1/32': 0.12,
  'sample 1/8': 0.24,
  'sample 1/2': 0.36,
  'whole workload': 0.48,
  settings: 0.68,
  windows: 0.82,
  defaults: 0.9,
  frontier: 0.94,
  answers: 0.96,
  explanation: 0.97,
  sensitivity: 1,
  'nearest miss': 1,
};
/** Tasks that a stage performs even if the time is over: there is an answer then. */
const LEAST: Readonly<Partial<Record<PlanStage, number>>> = {
  'sample 1/32': 8,
  'whole workload': 2,
};
/** Tasks for one thread between two looks at the clock. */
const TASKS_PER_LOOK = 2;

/**
 * The search for the best split, in threads that end before it returns.
 *
 * @throws Failure, one sentence: no split keeps the target, or a run was refused
 */
export async function searchPlan(
  { context, question }: PreparedPlan,
  { threads, mostSimulated, openPool, budgetMs }: SearchOptions,
  watch: Watch,
): Promise<PlanResult> {
  const pool = openPool?.(context) ?? openTaskPool(context, threads);
  const beganMs = performance.now();
  try {
    return await searchSplits({ ...question, mostSimulated }, (stage, tasks, best) => {
      const what = best === undefined ? stage : `${stage} (best so far: ${best})`;
      return watch(what, (onProgress) => {
        const onDone = (done: number): void => onProgress(done, tasks.length);
        if (budgetMs === undefined) return pool.run(tasks, onDone);
        const endMs = beganMs + budgetMs * STAGE_ENDS[stage];
        const size = threads * TASKS_PER_LOOK;
        return runUntil(pool, tasks, { endMs, onDone, size, least: LEAST[stage] ?? 0 });
      });
    });
  } catch (error) {
    throw error instanceof NothingKept ? nothingKept(error, context.target) : error;
  } finally {
    await pool.close();
  }
}

interface TimedRun {
  readonly endMs: number;
  readonly onDone: (done: number) => void;
  /** Tasks between two looks at the clock. */
  readonly size: number;
  readonly least: number;
}

/** The results of the tasks that begin before the end, and at least of the first `least` ones. */
async function runUntil(
  pool: TaskPool,
  tasks: readonly PlanTask[],
  { endMs, onDone, size, least }: TimedRun,
): Promise<(TaskResult | undefined)[]> {
  const results: (TaskResult | undefined)[] = [];
  const isOpen = (): boolean => results.length < least || performance.now() < endMs;
  while (results.length < tasks.length && isOpen()) {
    const from = results.length;
    results.push(
      ...(await pool.run(tasks.slice(from, from + size), (done) => onDone(from + done))),
    );
  }
  return tasks.map((_task, at) => results[at]);
}
